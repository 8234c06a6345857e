#include "lock_core.hpp"

#include "kept_lock_node.hpp"
#include "kept_reader_node.hpp"
#include "queue_kind.hpp"

#include <zklock/recipe_kit/shared_state.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace zklock::detail {

namespace {

/// The watches on the directories of the client's locks.
std::shared_ptr<DirectoryWatches> directory_watches(const ClientHandle& client) {
  const std::size_t max_bytes = client.config().max_buffer / 8;  // all watches of a session may have half of it
  return client.shared_state().find_or_make<DirectoryWatches>(
      {}, [max_bytes] { return std::make_shared<DirectoryWatches>(max_bytes); });
}

}  // namespace

LockCore::LockCore(const ClientHandle& client, std::string path, LockNaming naming)
    : LockTarget{client, std::move(path), naming},
      local_queue_{std::make_shared<LocalQueue>(directory_watches(client))} {}

std::shared_ptr<LockCore> LockCore::of(const ClientHandle& client, const std::string& path, LockNaming naming) {
  return client.shared_state().find_or_make<LockCore>(shared_state_key(client, path, naming),
                                                      [&] { return std::make_shared<LockCore>(client, path, naming); });
}

Result<PathShare> LockCore::use_as(LockKind kind, const KeepSettings& how) {
  if (const auto node = kept_ ? kept()->node() : nullptr; node && (!how.is_on() || node->kind() != kind)) node->ask();
  if (kind != LockKind::read) ask_readers();
  if (naming() == LockNaming::kazoo) return PathShare{};
  if (!use_)
    use_ = client().shared_state().find_or_make<PathUse>(client().server_path(path()),
                                                         [] { return std::make_shared<PathUse>(); });
  if (use_->users == 0) use_->kind = kind;
  if (!is_same_queue(use_->kind, kind)) return make_error_code(LockError::mixed_lock_kinds);
  ++use_->users;
  return PathShare{use_.get()};
}

void LockCore::ask_readers() {
  readers_.on_asked();
  if (const auto node = readers_.node()) node->ask();
}

KeptLock& LockCore::keep() {
  if (!kept_) kept_ = new KeptLock{client().get_executor()};
  return *kept_;
}

// The end of a held lock writes to the log, which may take long. So an object that may be its last user here outlives
// the std::lock_guard.

std::shared_ptr<HeldLock> LockCore::held_by(Owner owner, LockKind kind) const {
  std::shared_ptr<HeldLock> held_lock;
  const std::lock_guard lock{mutex_};
  const auto found = held_.find({owner, kind});
  if (found != held_.end()) held_lock = found->second.lock();
  return held_lock && held_lock->count() > 0 ? held_lock : nullptr;
}

bool LockCore::is_held(LockKind kind) const {
  std::vector<std::shared_ptr<HeldLock>> held_locks;
  const std::lock_guard lock{mutex_};
  for (const auto& [key, entry] : held_)
    if (auto held_lock = key.second == kind ? entry.lock() : nullptr) held_locks.push_back(std::move(held_lock));
  return std::ranges::any_of(held_locks, [](const auto& each) { return each->state() == LeaseState::held; });
}

std::vector<std::shared_ptr<HeldLock>> LockCore::holders_of(const ClientNode& node) const {
  std::vector<std::shared_ptr<HeldLock>> held_locks;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& [key, entry] : held_)
      if (auto held_lock = entry.lock()) held_locks.push_back(std::move(held_lock));
  }
  std::erase_if(held_locks, [&](const auto& each) { return !each->is_on(node) || each->count() == 0; });
  return held_locks;
}

void LockCore::add(const std::shared_ptr<HeldLock>& held_lock) {
  const std::lock_guard lock{mutex_};
  held_[{held_lock->owner(), held_lock->kind()}] = held_lock;
}

bool LockCore::add_reader(const std::shared_ptr<HeldLock>& held_lock) {
  std::shared_ptr<HeldLock> reader;
  std::shared_ptr<HeldLock> writer;
  const std::lock_guard lock{mutex_};
  if (number_in_progress_ > 0) return false;
  std::weak_ptr<HeldLock>& place = held_[{held_lock->owner(), LockKind::read}];
  reader = place.lock();
  if (const auto found = held_.find({held_lock->owner(), LockKind::write}); found != held_.end())
    writer = found->second.lock();
  if ((reader && reader->count() > 0) || (writer && writer->count() > 0)) return false;
  place = held_lock;
  return true;
}

void LockCore::on_end_of(Owner owner, LockKind kind) {
  std::shared_ptr<HeldLock> held_lock;
  const std::lock_guard lock{mutex_};
  const auto found = held_.find({owner, kind});
  if (found == held_.end()) return;
  held_lock = found->second.lock();
  if (!held_lock || held_lock->count() == 0) held_.erase(found);  // the entry may already be the next held lock's
}

LockCore::AcquireInProgress::AcquireInProgress(LockCore& core, Owner owner, LockKind kind,
                                               const asio::cancellation_state& cancellation)
    : core_{core}, key_{owner, kind} {
  core_.in_progress_.insert_or_assign(key_, InProgress{.cancellation = cancellation});
  const std::lock_guard lock{core_.mutex_};
  ++core_.number_in_progress_;
}

LockCore::AcquireInProgress::~AcquireInProgress() {
  {
    const std::lock_guard lock{core_.mutex_};
    --core_.number_in_progress_;
  }
  if (const auto node = core_.in_progress_.extract(key_); node && node.mapped().end) node.mapped().end->happen();
}

LockCore::InProgress* LockCore::in_progress(Owner owner, LockKind kind) {
  for (const LockKind each : {LockKind::mutex, LockKind::read, LockKind::write, LockKind::latch}) {
    const auto found = in_progress_.find({owner, each});
    if (is_same_queue(each, kind) && found != in_progress_.end()) return &found->second;
  }
  return nullptr;
}

std::shared_ptr<AsyncEvent> LockCore::end_of(InProgress& acquire) const {
  if (!acquire.end) acquire.end = std::make_shared<AsyncEvent>(client().get_executor());
  return acquire.end;
}

}  // namespace zklock::detail
