#include "lock_core.hpp"

#include <zklock/detail/shelf.hpp>

#include <algorithm>
#include <vector>

namespace zklock::detail {

std::shared_ptr<LockCore> LockCore::of(const ClientHandle& client, const std::string& path, LockNaming naming) {
  return client.shelf().find_or_make<LockCore>(shelf_key(client, path, naming),
                                               [&] { return std::make_shared<LockCore>(client, path, naming); });
}

Result<PathShare> LockCore::use_as(LockKind kind) {
  if (naming_ == LockNaming::kazoo) return PathShare{};
  if (!use_)
    use_ =
        client_.shelf().find_or_make<PathUse>(client_.server_path(path_), [] { return std::make_shared<PathUse>(); });
  const LockKind either = kind == LockKind::mutex ? LockKind::mutex : LockKind::write;
  if (use_->users == 0) use_->kind = either;
  if (use_->kind != either) return make_error_code(Error::mixed_lock_kinds);
  ++use_->users;
  return PathShare{use_.get()};
}

// The end of a holding writes to the log, which may take long: whatever may be its last user outlives the lock here.

std::shared_ptr<Holding> LockCore::held_by(Owner owner, LockKind kind) const {
  std::shared_ptr<Holding> holding;
  const std::lock_guard lock{mutex_};
  const auto found = held_.find({owner, kind});
  if (found != held_.end()) holding = found->second.lock();
  return holding && holding->count() > 0 ? holding : nullptr;
}

bool LockCore::is_held(LockKind kind) const {
  std::vector<std::shared_ptr<Holding>> holdings;
  const std::lock_guard lock{mutex_};
  for (const auto& [key, entry] : held_)
    if (auto holding = key.second == kind ? entry.lock() : nullptr) holdings.push_back(std::move(holding));
  return std::ranges::any_of(holdings, [](const auto& each) { return each->state() == LeaseState::held; });
}

std::shared_ptr<Holding> LockCore::hold(Owner owner, LockKind kind, Session session, CreateResult node,
                                        const LockAttempt& attempt) {
  auto holding =
      std::make_shared<Holding>(shared_from_this(), owner, kind, std::move(session), std::move(node), attempt);
  holding->keep_alive();
  const std::lock_guard lock{mutex_};
  held_[{owner, kind}] = holding;
  return holding;
}

void LockCore::on_end_of(Owner owner, LockKind kind) {
  std::shared_ptr<Holding> holding;
  const std::lock_guard lock{mutex_};
  const auto found = held_.find({owner, kind});
  if (found == held_.end()) return;
  holding = found->second.lock();
  if (!holding || holding->count() == 0) held_.erase(found);  // it may be the next one's already
}

LockCore::Turn::Turn(LockCore& core, Owner owner, LockKind kind, const asio::cancellation_state& cancellation)
    : core_{core}, key_{owner, kind} {
  auto end = std::make_shared<Timer>(core_.client_.get_executor(), Clock::time_point::max());
  core_.turns_.insert_or_assign(key_, TurnUnderWay{std::move(end), cancellation});
}

LockCore::Turn::~Turn() {
  if (auto node = core_.turns_.extract(key_)) node.mapped().end->cancel();
}

const LockCore::TurnUnderWay* LockCore::turn_of(Owner owner, LockKind kind) const {
  for (const LockKind each : {LockKind::mutex, LockKind::read, LockKind::write}) {
    const bool is_same_line = (each == LockKind::mutex) == (kind == LockKind::mutex);
    const auto found = turns_.find({owner, each});
    if (is_same_line && found != turns_.end()) return &found->second;
  }
  return nullptr;
}

}  // namespace zklock::detail
