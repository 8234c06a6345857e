#include "lock_core.hpp"

#include <zklock/detail/shelf.hpp>

#include <algorithm>

namespace zklock::detail {

std::shared_ptr<LockCore> LockCore::of(const ClientHandle& client, const std::string& path, LockNaming naming) {
  return client.shelf().find_or_make<LockCore>(shelf_key(client, path, naming),
                                               [&] { return std::make_shared<LockCore>(client, path, naming); });
}

std::shared_ptr<Holding> LockCore::held_by(Owner owner, LockKind kind) const {
  const std::lock_guard lock{mutex_};
  const auto found = held_.find({owner, kind});
  auto holding = found == held_.end() ? nullptr : found->second.lock();
  return holding && holding->count() > 0 ? holding : nullptr;
}

bool LockCore::is_held(LockKind kind) const {
  const std::lock_guard lock{mutex_};
  return std::ranges::any_of(held_, [kind](const auto& entry) {
    const auto holding = entry.first.second == kind ? entry.second.lock() : nullptr;
    return holding && holding->state() == LeaseState::held;
  });
}

std::shared_ptr<Holding> LockCore::hold(Owner owner, LockKind kind, Session session, CreateResult node) {
  const Key key{owner, kind};
  auto ended = [self = shared_from_this(), key] {
    const std::lock_guard lock{self->mutex_};
    const auto found = self->held_.find(key);
    if (found == self->held_.end()) return;
    // It may be the next one's already.
    if (const auto holding = found->second.lock(); !holding || holding->count() == 0) self->held_.erase(found);
  };
  auto holding = std::make_shared<Holding>(std::move(session), std::move(node), client_.client_id(), std::move(ended));
  const std::lock_guard lock{mutex_};
  held_[key] = holding;
  return holding;
}

LockCore::Turn::Turn(LockCore& core, Owner owner, LockKind kind) : core_{core}, key_{owner, kind} {
  core_.turns_[key_] = std::make_shared<Timer>(core_.client_.get_executor(), Clock::time_point::max());
}

LockCore::Turn::~Turn() {
  if (auto node = core_.turns_.extract(key_)) node.mapped()->cancel();
}

std::shared_ptr<Timer> LockCore::turn_of(Owner owner, LockKind kind) const {
  for (const LockKind each : {LockKind::mutex, LockKind::read, LockKind::write}) {
    const bool is_same_line = (each == LockKind::mutex) == (kind == LockKind::mutex);
    const auto found = turns_.find({owner, each});
    if (is_same_line && found != turns_.end()) return found->second;
  }
  return nullptr;
}

}  // namespace zklock::detail
