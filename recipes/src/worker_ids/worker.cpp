#include "worker.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/flight.hpp>
#include <zklock/recipe_kit/protected_path.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/session_ops.hpp>

#include <algorithm>
#include <utility>

namespace zklock::detail {

namespace {

std::int64_t timeout_of(const Session& session) {
  return std::chrono::ceil<std::chrono::milliseconds>(session.timeout()).count();
}

Awaitable<error_code> make_directories(std::shared_ptr<const WorkerIdsCore> ids, Session session) {
  error_code error = co_await create_containers(session, ids->ids());
  if (!error) error = co_await create_containers(session, ids->last());
  co_return error == Error::no_node ? error_code{} : error;  // an ancestor was deleted again: another round
}

}  // namespace

Worker::Worker(std::shared_ptr<const WorkerIdsCore> ids, Session session, int number, const LastUse& before)
    : ids_{std::move(ids)},
      session_{std::move(session)},
      number_{number},
      owner_{ProtectedPath{"/", ""}.uuid()},
      id_path_{join_path(ids_->ids(), std::to_string(number))},
      last_path_{join_path(ids_->last(), std::to_string(number))},
      from_{before.end},
      version_{before.version},
      stopping_{session_.get_executor()} {}

/// The clock is read before it is asked whether the time is reserved: a process may be paused anywhere between. All that
/// a release must not give away is known when the mutex is free.
std::optional<std::int64_t> Worker::try_time_stamp() {
  const std::lock_guard lock{mutex_};
  if (is_stopped_ || Clock::now() >= hold_->valid_until()) return std::nullopt;
  const std::int64_t now = ids_->now();
  if (now < from_ || now >= end_ || now < used_.value_or(now)) return std::nullopt;
  used_ = now;
  return now;
}

Clock::time_point Worker::valid_until() const noexcept {
  return is_stopped() ? Clock::time_point{} : hold_->valid_until();
}

void Worker::stop() {
  const std::lock_guard lock{mutex_};
  is_stopped_ = true;
}

bool Worker::is_stopped() const {
  const std::lock_guard lock{mutex_};
  return is_stopped_;
}

/// Twice the session timeout is reserved, so that an owner without a link can use its number as long as it holds it.
std::int64_t Worker::end_after(WorkerWrite kind) const {
  const std::lock_guard lock{mutex_};
  if (kind == WorkerWrite::release) return used_ ? *used_ + ids_->tick() : from_;
  const std::int64_t first = std::max({ids_->now(), from_, used_.value_or(from_)});
  return std::max(end_, first + 2 * timeout_of(session_) + ids_->tick());
}

bool Worker::is_due() const {
  const std::lock_guard lock{mutex_};
  return end_ - ids_->now() < timeout_of(session_);
}

void Worker::on_written(std::int64_t end) {
  const std::lock_guard lock{mutex_};
  end_ = end;
  ++version_;
}

Transaction Worker::transaction(WorkerWrite kind, std::int64_t end) const {
  const std::string record = encode(LastUse{end, owner_, version_});
  Transaction transaction;
  if (version_ == LastUse::absent)
    transaction.create(last_path_, record);
  else
    transaction.set_data(last_path_, record, version_);
  switch (kind) {
    case WorkerWrite::acquire: transaction.create(id_path_, owner_, CreateMode::ephemeral); break;
    case WorkerWrite::extend: transaction.check(id_path_); break;
    case WorkerWrite::release: transaction.remove(id_path_); break;
  }
  return transaction;
}

Awaitable<Result<NumberSeen>> Worker::look(std::shared_ptr<Worker> self) {
  for (;;) {
    const Session& session = self->session_;
    const Flight<DataResult> reading{session.get_executor(), 2};
    session.async_sync(self->last_path_, asio::bind_executor(session.get_executor(), [](error_code) {}));
    session.async_get_data(self->last_path_, reading.handler(0));
    session.async_get_data(self->id_path_, reading.handler(1));
    error_code error = co_await reading.wait();
    for (const auto& [unread, read] : reading.outcomes())
      if (unread && unread != Error::no_node) error = unread;
    if (!error) {
      NumberSeen seen;
      const auto& [no_last, last] = reading.outcomes()[0];
      if (!no_last) seen.last = decode_last_use(last.data, last.stat.version);
      seen.holder = std::get<1>(reading.outcomes()[1]).data;
      co_return seen;
    }
    if (is_retryable(error)) error = co_await pause_before_retry(session);
    if (error) co_return error;
  }
}

/// Writes last/<n> and what belongs to it, until it is known what has come of that. Error::node_exists: the number is
/// lost. A late copy of a write does nothing: it is over a version that there is no more.
Awaitable<error_code> Worker::write(std::shared_ptr<Worker> self, WorkerWrite kind) {
  for (int rounds_left = max_rounds; rounds_left > 0;) {
    const std::int64_t end = self->end_after(kind);
    auto [error, results] = co_await self->session_.async_commit(self->transaction(kind, end), use_tuple);
    if (!error) {
      self->on_written(end);
      co_return error;
    }
    const bool has_no_parent = error == Error::no_node && kind == WorkerWrite::acquire;
    if (error == Error::no_node || error == Error::node_exists || error == Error::bad_version) {
      --rounds_left;
      error = {};
    }
    if (has_no_parent) error = co_await make_directories(self->ids_, self->session_);
    if (is_retryable(error)) error = co_await pause_before_retry(self->session_);
    if (error) co_return error;
    const auto seen = co_await look(self);
    if (!seen) co_return seen.error();
    const WorkerOutcome outcome = outcome_of_write(kind, *seen, self->owner_, self->version_);
    if (outcome == WorkerOutcome::done) {
      self->on_written(seen->last.end);
      co_return error_code{};
    }
    if (outcome == WorkerOutcome::lost) {
      if (seen->holder == self->owner_) remove_in_background(self->session_, self->id_path_);
      break;
    }
  }
  co_return make_error_code(Error::node_exists);
}

Awaitable<Result<WorkerId>> Worker::claim(std::shared_ptr<Worker> self) {
  if (const error_code error = co_await write(self, WorkerWrite::acquire)) co_return error;
  if (const error_code dead = co_await prove_alive(self->session_)) co_return dead;
  self->hold_ = SessionHold::begin(self->session_);
  spawn_background(self->session_.get_executor(), keep(self), [self](error_code error) { self->on_ended(error); });
  co_return WorkerId{std::move(self)};
}

/// Extends what is reserved in time, until the number is lost or released. Also one that is lost by the clock may still
/// have its node.
Awaitable<error_code> Worker::keep(std::shared_ptr<Worker> self) {
  while (!self->hold_->is_lost() && !self->is_stopped()) {
    if (self->is_due()) {
      if (const error_code error = co_await write(self, WorkerWrite::extend)) self->hold_->lose();
    } else {
      co_await self->stopping_.wait_until(Clock::now() + self->session_.timeout() / 9);
    }
  }
  co_return co_await write(self, WorkerWrite::release);
}

void Worker::release(std::shared_ptr<Unattended> waiting) {
  hold_->give_up();
  stopping_.happen();
  if (has_ended_) return waiting->complete({});
  waiting_.push_back(std::move(waiting));
}

void Worker::on_ended(error_code error) {
  has_ended_ = true;
  if (error == Error::node_exists || is_session_lost(error) || is_retryable(error)) error = {};
  for (const auto& each : std::exchange(waiting_, {})) each->complete(error);
}

}  // namespace zklock::detail
