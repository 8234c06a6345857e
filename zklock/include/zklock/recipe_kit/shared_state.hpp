// The state that the recipes on one client share.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

namespace zklock::detail {

/// Parts are found by their type and a path, made if missing, and destroyed with their last user.
///
/// Threads: any.
class SharedState {
 public:
  /// `make()` returns the shared_ptr of a new part. It may find or make other parts.
  template <class T, class Make>
  std::shared_ptr<T> find_or_make(const std::string& path, Make&& make) {
    const std::lock_guard lock{mutex_};
    const std::pair key{std::type_index{typeid(T)}, path};
    if (const auto found = parts_.find(key); found != parts_.end())
      if (auto part = std::static_pointer_cast<T>(found->second.lock())) return part;
    std::shared_ptr<T> part = std::forward<Make>(make)();
    if (parts_.size() >= next_sweep_) {
      std::erase_if(parts_, [](const auto& entry) { return entry.second.expired(); });
      next_sweep_ = 2 * parts_.size() + 64;
    }
    parts_[key] = part;
    return part;
  }

  /// Returns the part of its type that lives as long as the client.
  template <class T>
  std::shared_ptr<T> keep() {
    const std::lock_guard lock{mutex_};
    std::shared_ptr<void>& part = kept_[typeid(T)];
    if (!part) part = std::make_shared<T>();
    return std::static_pointer_cast<T>(part);
  }

  /// Has `act` called when the client begins to close, before its sessions do: what is sent then precedes their end. On
  /// the serial executor. It must not keep the client alive.
  void at_close(std::function<void()> act) {
    const std::lock_guard lock{mutex_};
    at_close_.push_back(std::move(act));
  }
  void close() {
    std::unique_lock lock{mutex_};
    const auto acts = std::exchange(at_close_, {});
    lock.unlock();
    for (const auto& act : acts) act();
  }

  /// The number of parts in use, plus expired entries that have not been removed yet.
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock{mutex_};
    return parts_.size();
  }

 private:
  mutable std::recursive_mutex mutex_;  // make() may come back
  std::map<std::pair<std::type_index, std::string>, std::weak_ptr<void>> parts_;
  std::map<std::type_index, std::shared_ptr<void>> kept_;
  std::vector<std::function<void()>> at_close_;
  std::size_t next_sweep_ = 64;
};

}  // namespace zklock::detail
