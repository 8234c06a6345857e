#include "contender.hpp"
#include "contention.hpp"
#include "participants.hpp"

#include <zklock/detail/blocking.hpp>
#include <zklock/detail/existing.hpp>
#include <zklock/path.hpp>
#include <zklock/recipes/inter_process_mutex.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

namespace zklock {

using detail::existing;

namespace detail {

namespace {

/// A thread's own for good; a std::thread::id may come again once its thread has ended.
std::uint64_t this_thread_number() {
  static std::atomic<std::uint64_t> last{0};
  thread_local const std::uint64_t number = ++last;
  return number;
}

}  // namespace

/// What the handles and the operations of one mutex share.
class MutexCore {
 public:
  MutexCore(const ClientHandle& client, std::string path) : client_{client}, path_{std::move(path)} {}

  [[nodiscard]] const ClientHandle& client() const noexcept { return client_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// The calling thread's, or null.
  [[nodiscard]] std::shared_ptr<Holding> held_here() const {
    const std::lock_guard lock{mutex_};
    const auto found = held_.find(this_thread_number());
    return found == held_.end() ? nullptr : found->second;
  }
  void hold(std::shared_ptr<Holding> holding) {
    const std::lock_guard lock{mutex_};
    held_[this_thread_number()] = std::move(holding);
  }
  std::shared_ptr<Holding> let_go() {
    const std::lock_guard lock{mutex_};
    auto node = held_.extract(this_thread_number());
    return node ? std::move(node.mapped()) : nullptr;
  }
  [[nodiscard]] bool held_by_any() const {
    const std::lock_guard lock{mutex_};
    return std::any_of(held_.begin(), held_.end(),
                       [](const auto& entry) { return entry.second->state() == LeaseState::held; });
  }
  ~MutexCore() {
    for (const auto& [thread, holding] : held_) release_in_background(holding);
  }

 private:
  ClientHandle client_;
  std::string path_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Holding>> held_;
};

asio::any_io_executor callback_executor(const MutexCore& mutex) { return mutex.client().callback_executor(); }

void refuse_after_fork(const MutexCore& mutex) {
  if (mutex.client().in_forked_child())
    throw boost::system::system_error{make_error_code(Error::used_after_fork), "lock " + mutex.path()};
}

void start_acquire(std::shared_ptr<MutexCore> mutex, Patience patience, Handler<Lease> handler) {
  const auto serial = mutex->client().get_executor();
  const Deadline deadline = patience.kind == Patience::Kind::until ? Deadline{patience.deadline} : std::nullopt;
  auto body =
      acquire(mutex->client(), LockRequest{mutex->path(), mutex_marker, patience.kind == Patience::Kind::try_once});
  spawn_operation(serial, deadline, std::move(handler), std::move(body), mutex);
}

void start_participants(std::shared_ptr<MutexCore> mutex, Handler<std::vector<Participant>> handler) {
  const auto serial = mutex->client().get_executor();
  auto body = list_participants(mutex->client(), mutex->path());
  spawn_operation(serial, {}, std::move(handler), std::move(body), mutex);
}

}  // namespace detail

namespace {

[[noreturn]] void fail(error_code error, const std::string& path) {
  throw boost::system::system_error{error, "lock " + path};
}

}  // namespace

InterProcessMutex::InterProcessMutex(const ClientHandle& client, std::string path) {
  validate_lock_path(path);
  core_ = std::make_shared<detail::MutexCore>(client, std::move(path));
}

const std::string& InterProcessMutex::path() const noexcept {
  static const std::string none;
  return core_ ? core_->path() : none;
}

void InterProcessMutex::acquire() { static_cast<void>(acquire(detail::Patience{})); }

bool InterProcessMutex::acquire(detail::Patience patience) {
  detail::refuse_after_fork(existing(core_));
  if (core_->client().blocking_would_deadlock()) fail(make_error_code(Error::would_deadlock), path());
  if (const auto holding = core_->held_here()) {
    if (holding->state() == LeaseState::lost) fail(make_error_code(Error::lock_lost), path());
    if (holding->count() == INT32_MAX) fail(make_error_code(Error::too_many_reentries), path());
    holding->set_count(holding->count() + 1);
    return true;
  }
  auto outcome = detail::block_on<Lease>(core_->client().get_executor(),
                                         [&](auto token) { initiate_acquire(patience, std::move(token)); });
  if (outcome.error == Error::timed_out) return false;
  if (outcome.error) fail(outcome.error, path());
  core_->hold(std::move(*outcome.value).into_holding());
  return true;
}

void InterProcessMutex::release() {
  detail::refuse_after_fork(existing(core_));
  const auto holding = core_->held_here();
  if (!holding) fail(make_error_code(Error::not_owner), path());
  if (core_->client().blocking_would_deadlock()) fail(make_error_code(Error::would_deadlock), path());
  if (holding->count() > 1) return holding->set_count(holding->count() - 1);
  core_->let_go();
  const auto outcome = detail::block_on(core_->client().get_executor(), [&](auto token) {
    detail::start_release(holding, detail::Handler<>{std::move(token)});
  });
  if (outcome.error) fail(outcome.error, path());
}

void InterProcessMutex::unlock() {
  detail::refuse_after_fork(existing(core_));
  const auto holding = core_->held_here();
  if (!holding) fail(make_error_code(Error::not_owner), path());
  if (holding->count() > 1) return holding->set_count(holding->count() - 1);
  core_->let_go();
  detail::release_in_background(holding);
}

bool InterProcessMutex::is_acquired_in_this_process() const { return core_ && core_->held_by_any(); }

bool InterProcessMutex::is_owned_by_current_thread() const {
  const auto holding = core_ ? core_->held_here() : nullptr;
  return holding && holding->state() == LeaseState::held;
}

std::int64_t InterProcessMutex::fencing_token() const {
  const auto holding = core_ ? core_->held_here() : nullptr;
  return holding && holding->state() != LeaseState::lost ? holding->node().stat.czxid : 0;
}

}  // namespace zklock
