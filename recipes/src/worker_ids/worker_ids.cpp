#include "blocking_call.hpp"
#include "worker.hpp"

#include <zklock/detail/existing.hpp>
#include <zklock/path.hpp>
#include <zklock/recipe_kit/flight.hpp>
#include <zklock/recipe_kit/random.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/session_ops.hpp>

#include <algorithm>

namespace zklock {
namespace detail {

using std::chrono::milliseconds;

WorkerIdsCore::WorkerIdsCore(const ClientHandle& client, std::string path, WorkerIdSettings settings)
    : RecipeCore{client, std::move(path)},
      settings_{std::move(settings)},
      ids_{join_path(this->path(), "ids")},
      last_{join_path(this->path(), "last")} {
  validate_path(this->path());
  if (count() < 1 || count() > WorkerIdSettings::max_count || tick() < 1)
    throw boost::system::system_error{Error::bad_arguments, "worker ids at " + this->path()};
}

std::int64_t WorkerIdsCore::now() const {
  const auto now = settings_.clock ? settings_.clock() : std::chrono::system_clock::now();
  const std::int64_t since = std::chrono::floor<milliseconds>(now.time_since_epoch()).count();
  return since - since % tick();
}

namespace {

/// A number that may be used at once; or when one may be, by what was read.
struct Choice {
  std::shared_ptr<Worker> worker{};
  std::int64_t soonest = LastUse::never;
};

/// Reads of free numbers, in an order of its own, until when their time stamps are another's. A number whose last owner's
/// clock was ahead is passed over.
Awaitable<Result<Choice>> choose(std::shared_ptr<const WorkerIdsCore> ids, Session session,
                                 std::vector<std::string> taken) {
  std::vector<int> numbers = free_numbers(taken, ids->count());
  if (!numbers.empty()) {
    const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(random_bits() % numbers.size());
    std::rotate(numbers.begin(), first, numbers.end());  // clang 14 cannot compile that of std::ranges
  }
  Choice choice;
  std::size_t size = 8;
  for (std::size_t begin = 0; begin < numbers.size(); begin += size, size = std::min(2 * size, max_flight)) {
    const std::size_t in_flight = std::min(size, numbers.size() - begin);
    const Flight<DataResult> reading{session.get_executor(), in_flight};
    for (std::size_t i = 0; i < in_flight; ++i)
      session.async_get_data(join_path(ids->last(), std::to_string(numbers[begin + i])), reading.handler(i));
    if (const error_code cancelled = co_await reading.wait()) co_return cancelled;
    for (std::size_t i = 0; i < in_flight; ++i) {
      const auto& [unread, read] = reading.outcomes()[i];
      if (unread && unread != Error::no_node) co_return unread;
      const LastUse last = unread ? LastUse{} : decode_last_use(read.data, read.stat.version);
      choice.soonest = std::min(choice.soonest, last.end);
      if (last.end > ids->now()) continue;
      choice.worker = std::make_shared<Worker>(ids, session, numbers[begin + i], last);
      co_return choice;
    }
  }
  co_return choice;
}

/// Until another number may be free, or the clock has come to `soonest`, for which it is looked again and again: it may
/// be set.
Awaitable<error_code> wait_for_number(std::shared_ptr<const WorkerIdsCore> ids, Session session, Watch& change,
                                      std::int64_t soonest) {
  const auto serial = session.get_executor();
  const auto changed = std::make_shared<AsyncEvent>(serial);
  change.async_wait(asio::bind_executor(serial, [changed](error_code, const WatchEvent&) { changed->happen(); }));
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  Clock::time_point latest = Clock::time_point::max();
  if (soonest != LastUse::never)
    latest = Clock::now() + std::min<Clock::duration>(milliseconds{soonest - ids->now()}, session.timeout() / 3);
  co_await changed->wait_until(latest);
  const bool is_cancelled = cancellation.cancelled() != asio::cancellation_type::none;
  co_return is_cancelled ? error_code{asio::error::operation_aborted} : error_code{};
}

Awaitable<Result<WorkerId>> acquire_on(std::shared_ptr<const WorkerIdsCore> ids, Session session, bool try_once) {
  for (int rounds_left = max_rounds;;) {
    auto [error, listed, change] = co_await session.async_get_children_and_watch(ids->ids(), use_tuple);
    if (error == Error::no_node && --rounds_left > 0) {
      error = co_await create_containers(session, ids->ids());
      if (!error || error == Error::no_node) continue;
    }
    if (!error) {
      auto choice = co_await choose(ids, session, std::move(listed.names));
      if (!choice) {
        error = choice.error();
      } else if (choice->worker) {
        // Once it is sent it goes on to its end: a number that nobody waits for any more is released.
        const Flight<WorkerId> claiming{session.get_executor(), 1};
        spawn_with_slot(session.get_executor(), {}, {}, Worker::claim(choice->worker), claiming.handler(0));
        if (const error_code cancelled = co_await claiming.wait()) co_return cancelled;
        auto& [refused, worker_id] = claiming.outcomes().front();
        if (!refused) co_return std::move(worker_id);
        error = refused;
        if (error == Error::node_exists) continue;
      } else {
        if (try_once) co_return make_error_code(Error::timed_out);
        error = co_await wait_for_number(ids, session, change, choice->soonest);
      }
    }
    if (is_retryable(error)) error = co_await pause_before_retry(session);
    if (error) co_return error;
  }
}

}  // namespace

const ClientHandle& home_of(const WorkerIdsCore& ids) { return ids.client(); }
const Session& home_of(const Worker& worker) { return worker.session(); }

void start_acquire_worker_id(std::shared_ptr<WorkerIdsCore> ids, WaitPolicy wait, Handler<WorkerId> handler) {
  const Limits limits = limits_of(wait, ids->client());
  const auto attempt = [ids, limits](const Session& session) { return acquire_on(ids, session, limits.try_once); };
  auto body = retried<WorkerId>(ids->client(), "acquire", ids->path(), limits.deadline, attempt);
  spawn_operation(ids->client().get_executor(), limits.deadline, std::move(handler), std::move(body), ids,
                  limits.at_deadline);
}

void start_release_worker_id(std::shared_ptr<Worker> worker, Deadline deadline, Handler<> handler) {
  worker->stop();
  const auto serial = worker->session().get_executor();
  auto waiting = Unattended::of(std::move(handler), serial);
  asio::dispatch(serial, [serial, deadline, worker = std::move(worker), waiting = std::move(waiting)] {
    waiting->give_up_at(deadline, serial);
    worker->release(waiting);
  });
}

void start_wait_worker_id_lost(std::shared_ptr<Worker> worker, Handler<> handler) {
  const auto serial = worker->session().get_executor();
  spawn_operation(serial, {}, std::move(handler), SessionHold::wait_lost(worker->hold()), worker);
}

void release_in_background(const std::shared_ptr<Worker>& worker) noexcept {
  if (!worker || worker->session().in_forked_child()) return;
  start_release_worker_id(worker, {}, Handler<>{[](error_code) {}, Route{}});
}

}  // namespace detail

using detail::existing;

int WorkerId::number() const { return existing(worker_).number(); }

Clock::time_point WorkerId::valid_until() const noexcept {
  return worker_ ? worker_->valid_until() : Clock::time_point{};
}

std::optional<WorkerId::TimeStamp> WorkerId::try_time_stamp() const {
  auto& worker = existing(worker_);
  refuse_after_fork(worker.ids());
  const auto stamp = worker.try_time_stamp();
  if (!stamp) return std::nullopt;
  return TimeStamp{std::chrono::milliseconds{*stamp}};
}

void WorkerId::release() {
  const auto& ids = existing(worker_).ids();
  detail::call_blocking(ids, "worker id", {}, [&](auto token) { async_release(std::move(token)); });
}

WorkerIds::WorkerIds(const ClientHandle& client, std::string path, WorkerIdSettings settings)
    : core_{std::make_shared<detail::WorkerIdsCore>(client, std::move(path), std::move(settings))} {}

const std::string& WorkerIds::path() const { return existing(core_).path(); }

/// The operation itself ends when its time is up.
std::optional<WorkerId> WorkerIds::acquire(detail::WaitPolicy wait) const {
  const auto& core = existing(core_);
  refuse_after_fork(core);
  try {
    return detail::call_blocking<WorkerId>(core.client(), "worker ids " + core.path(),
                                           [&](auto token) { initiate_acquire(wait, std::move(token)); });
  } catch (const boost::system::system_error& error) {
    if (error.code() != Error::timed_out || wait.kind == detail::WaitPolicy::Kind::forever) throw;
    return std::nullopt;
  }
}

}  // namespace zklock
