// The turns in which a user leads.
#include "user_steps.hpp"

#include <zklock/recipes/leader/lead_while.hpp>
#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace zklock::chaos {

using namespace std::chrono_literals;
using test::Pending;

std::string User::some_election() {
  return locks + std::string{below(2) == 0 ? "latch" : "selector"} + std::to_string(below(elections));
}

/// The id is in the form of a lock's data, from which the judge knows whose node it is.
LeaderElection User::election_on(const std::string& line) const {
  const std::string id = workplace_.client.client_id() + ":1";
  if (line.find("latch") != std::string::npos) return LeaderLatch{workplace_.client, line, id};
  const LockNaming naming = has_kazoos_names(line) ? LockNaming::kazoo : LockNaming::curator;
  return LeaderSelector{workplace_.client, line, id, naming};
}

void User::lead() {
  const std::string line = some_election();
  const std::int64_t operation = ++workplace_.operations;
  const LeaderElection election = election_on(line);
  auto leadership = acquire<Leadership>(operation, "lead", line, [&](auto... limit_and_handler) {
    election.async_lead(std::move(limit_and_handler)...);
  });
  if (leadership) use(std::move(*leadership).into_lease(), line, Share::alone, operation);
}

namespace {

/// The user may give the stream up meanwhile.
void tell_loss(const std::weak_ptr<CandidacyStream>& standing, std::int64_t token,
               const std::function<void(error_code)>& told) {
  const auto stream = standing.lock();
  if (!stream) return told(make_error_code(asio::error::operation_aborted));
  stream->async_next([standing, token, told](error_code error, CandidacyEvent event) {
    const bool is_lost = event.state == CandidacyState::lost || event.fencing_token != token;
    error || is_lost ? told(error) : tell_loss(standing, token, told);
  });
}

}  // namespace

/// The stream stands again at once when it has lost what it had; its user then resigns.
User::Held User::held_by(const std::shared_ptr<CandidacyStream>& standing, std::string lock, std::int64_t token,
                         std::int64_t operation) {
  const auto valid_until = [&stream = *standing, token] {
    const auto until = stream.valid_until();  // that of the next leadership has another token
    return stream.fencing_token() == token ? until : Clock::time_point{};
  };
  const auto mark = [this, &stream = *standing, token, valid_until] {
    try {
      Transaction marking = stream.guard();
      if (stream.fencing_token() != token) return make_error_code(LockError::lock_lost);
      Pending<TransactionResults> done;
      workplace_.client.async_commit(std::move(marking).set_data(marks, ""), done.handler());
      while (!done.ready(5ms))
        if (valid_until() <= Clock::now()) return make_error_code(LockError::lock_lost);
      return std::get<0>(done.get());
    } catch (const boost::system::system_error& thrown) {
      return thrown.code();
    }
  };
  return {.lock = std::move(lock),
          .share = Share::alone,
          .token = token,
          .operation = operation,
          .is_lost = [valid_until] { return valid_until() <= Clock::now(); },
          .valid_until = valid_until,
          .mark = mark,
          .wait_lost = [weak = std::weak_ptr{standing},
                        token](const std::function<void(error_code)>& told) { tell_loss(weak, token, told); }};
}

void User::stand() {
  const std::string line = some_election();
  const std::int64_t operation = ++workplace_.operations;
  const auto limit = some_limit();
  note_invoked(operation, "stand", line, limit);
  auto standing = std::make_shared<CandidacyStream>(election_on(line).stand());
  const auto until = limit == unlimited ? Clock::time_point::max() : Clock::now() + limit;
  std::int64_t token = 0;
  error_code error = make_error_code(Error::timed_out);
  try {
    while (token == 0) {
      const auto event = limit == unlimited ? standing->next() : standing->next(until - Clock::now());
      if (!event) break;
      if (event->state == CandidacyState::leading) token = event->fencing_token;
    }
  } catch (const boost::system::system_error& thrown) {
    error = thrown.code();
  }
  if (token == 0) {
    standing.reset();
    note(Event::refused, operation, reason_of(error));
  } else {
    const Held held = held_by(standing, line, token, operation);
    note_granted(held);
    visit({held});
    note(Event::releasing, held);
    standing.reset();
    note(Event::released, held, "dropped");
  }
  note(Event::finished, operation);
}

/// The body is a function of a thread, or a coroutine with an executor of its own, which may wait and be cancelled.
void User::lead_by_body() {
  const std::string line = some_election();
  const std::int64_t operation = ++workplace_.operations;
  const LeaderElection election = election_on(line);
  std::optional<Held> held;
  const auto serve = [&](Leadership& leadership) {
    held = held_by(leadership, line, Share::alone, operation);
    note_granted(*held);
    visit({*held});
  };
  note_invoked(operation, "lead_while", line, unlimited);
  error_code error;
  try {
    if (below(2) == 0) {
      lead_while(election, [&](Leadership& leadership, std::stop_token) {
        serve(leadership);
        note(Event::releasing, *held);
      });
    } else {
      const auto rest = std::chrono::milliseconds{below(30)};
      const auto body = [&](Leadership& leadership) -> asio::awaitable<void> {
        serve(leadership);
        Timer resting{co_await asio::this_coro::executor, rest};
        static_cast<void>(co_await resting.async_wait(asio::as_tuple(asio::use_awaitable)));
        note(Event::releasing, *held);
      };
      asio::io_context here;
      std::exception_ptr thrown;
      asio::co_spawn(here, lead_while(election, body), [&](std::exception_ptr outcome) { thrown = outcome; });
      here.run();
      if (thrown) std::rethrow_exception(thrown);
    }
  } catch (const boost::system::system_error& thrown) {
    error = thrown.code();
  }
  held ? note(Event::released, *held, reason_of(error)) : note(Event::refused, operation, reason_of(error));
  note(Event::finished, operation);
}

}  // namespace zklock::chaos
