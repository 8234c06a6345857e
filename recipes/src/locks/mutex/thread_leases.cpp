#include "thread_holds.hpp"

#include <zklock/detail/shelf.hpp>

#include <boost/system/system_error.hpp>

namespace zklock::detail {

ThreadHolds::~ThreadHolds() {
  for (const auto& [key, entry] : entries_) {
    for (std::uint32_t more = 1; more < entry.times; ++more) static_cast<void>(entry.hold->holding().leave());
    release_in_background(entry.hold);
  }
}

std::shared_ptr<ThreadHolds> ThreadHolds::of(const ClientHandle& client, const std::string& path, LockNaming naming) {
  auto core = LockCore::of(client, path, naming);
  return client.shelf().find_or_make<ThreadHolds>(shelf_key(client, path, naming),
                                                  [&] { return std::make_shared<ThreadHolds>(std::move(core)); });
}

std::shared_ptr<Hold> ThreadHolds::held(LockKind kind) const {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find({Owner::this_thread(), kind});
  return found == entries_.end() ? nullptr : found->second.hold;
}

void ThreadHolds::add(LockKind kind, std::shared_ptr<Hold> hold) {
  const std::lock_guard lock{mutex_};
  const auto [at, is_first] = entries_.try_emplace({Owner::this_thread(), kind}, Entry{std::move(hold)});
  if (!is_first) ++at->second.times;
}

void ThreadHolds::again(LockKind kind) {
  const std::lock_guard lock{mutex_};
  ++entries_.at({Owner::this_thread(), kind}).times;
}

std::shared_ptr<Hold> ThreadHolds::remove(LockKind kind) {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find({Owner::this_thread(), kind});
  if (found == entries_.end())
    throw boost::system::system_error{make_error_code(Error::not_owner), "lock " + core_->path()};
  Entry& entry = found->second;
  if (--entry.times > 0) {
    static_cast<void>(entry.hold->holding().leave());
    return nullptr;
  }
  return std::move(entries_.extract(found).mapped().hold);
}

}  // namespace zklock::detail
