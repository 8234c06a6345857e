#include "thread_leases.hpp"

#include <zklock/recipe_kit/shared_state.hpp>

#include <boost/system/system_error.hpp>

namespace zklock::detail {

ThreadLeases::~ThreadLeases() {
  for (const auto& [key, entry] : entries_) {
    for (std::uint32_t more = 1; more < entry.times; ++more) static_cast<void>(entry.share->held_lock().leave());
    release_in_background(entry.share);
  }
}

std::shared_ptr<ThreadLeases> ThreadLeases::of(const ClientHandle& client, const std::string& path, LockNaming naming) {
  auto core = LockCore::of(client, path, naming);
  return client.shared_state().find_or_make<ThreadLeases>(
      shared_state_key(client, path, naming), [&] { return std::make_shared<ThreadLeases>(std::move(core)); });
}

std::shared_ptr<LeaseShare> ThreadLeases::held(LockKind kind) const {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find({Owner::this_thread(), kind});
  return found == entries_.end() ? nullptr : found->second.share;
}

std::uint32_t ThreadLeases::times(LockKind kind) const {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find({Owner::this_thread(), kind});
  return found == entries_.end() ? 0 : found->second.times;
}

void ThreadLeases::add(LockKind kind, std::shared_ptr<LeaseShare> share) {
  const std::lock_guard lock{mutex_};
  const auto [at, is_first] = entries_.try_emplace({Owner::this_thread(), kind}, Entry{std::move(share)});
  if (!is_first) ++at->second.times;
}

void ThreadLeases::again(LockKind kind) {
  const std::lock_guard lock{mutex_};
  ++entries_.at({Owner::this_thread(), kind}).times;
}

std::shared_ptr<LeaseShare> ThreadLeases::remove(LockKind kind) {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find({Owner::this_thread(), kind});
  if (found == entries_.end())
    throw boost::system::system_error{make_error_code(LockError::not_owner), "lock " + core_->path()};
  Entry& entry = found->second;
  if (--entry.times > 0) {
    static_cast<void>(entry.share->held_lock().leave());
    return nullptr;
  }
  return std::move(entries_.extract(found).mapped().share);
}

}  // namespace zklock::detail
