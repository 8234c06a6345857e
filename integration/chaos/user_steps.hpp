// The steps of a user's turn that are templates.
#pragma once

#include "user.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include <utility>

namespace zklock::chaos {

template <class Result, class Start>
std::optional<Result> User::acquire(std::int64_t operation, const std::string& kind, const std::string& lock,
                                    Start start) {
  const auto limit = some_limit();
  const auto executor = workplace_.client.get_executor();
  const bool may_cancel = below(8) == 0;
  asio::cancellation_signal cancel;
  test::Pending<Result> pending;
  note_invoked(operation, kind, lock, limit);
  asio::dispatch(executor, [&] {
    auto handler = asio::bind_cancellation_slot(cancel.slot(), pending.handler());
    limit == unlimited ? start(std::move(handler)) : start(limit, std::move(handler));
  });
  if (may_cancel && !pending.ready(std::chrono::milliseconds{below(30)})) {
    test::Pending<> cancelled;
    asio::post(executor, [&, handler = cancelled.handler()]() mutable {
      cancel.emit(asio::cancellation_type::terminal);
      handler({});
    });
    cancelled.get(for_ever);
  }
  auto [error, result] = pending.get(for_ever);
  if (error) {
    note(Event::refused, operation, reason_of(error));
    note(Event::finished, operation);
    return std::nullopt;
  }
  return std::move(result);
}

template <class Block>
bool User::acquire_blocking(std::int64_t operation, const std::string& kind, const std::string& lock, Block block) {
  const auto limit = some_limit();
  note_invoked(operation, kind, lock, limit);
  error_code error = make_error_code(Error::timed_out);
  try {
    if (limit == unlimited) {
      block();
      return true;
    }
    if (block(limit)) return true;
  } catch (const boost::system::system_error& thrown) {
    error = thrown.code();
  }
  note(Event::refused, operation, reason_of(error));
  note(Event::finished, operation);
  return false;
}

template <class Holder>
User::Held User::held_by(Holder& holder, std::string lock, Share share, std::int64_t operation) {
  Held held{.lock = std::move(lock),
            .share = share,
            .token = holder.fencing_token(),
            .operation = operation,
            .is_lost = [&] { return holder.valid_until() <= Clock::now(); },
            .valid_until = [&] { return holder.valid_until(); },
            .mark = {},
            .wait_lost = [&](auto told) { holder.async_wait_lost(std::move(told)); }};
  held.mark = [this, &holder] {
    test::Pending<TransactionResults> done;
    workplace_.client.async_commit(holder.guard().set_data(marks, ""), done.handler());
    while (!done.ready(std::chrono::milliseconds{5}))
      if (holder.valid_until() <= Clock::now()) return make_error_code(LockError::lock_lost);
    return std::get<0>(done.get());
  };
  return held;
}

template <class Release>
void User::release_blocking(const Held& held, Release release) {
  note(Event::releasing, held);
  error_code error;
  try {
    release();
  } catch (const boost::system::system_error& thrown) {
    error = thrown.code();
  }
  note(Event::released, held, reason_of(error));
}

}  // namespace zklock::chaos
