// What a LockRegistry and its operations refer to.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/recipes/locks/lock_registry.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace zklock::detail {

/// Lock objects that were used last. A client keeps a lock only while it remembers that it was alone with it, and
/// forgets that with the last object of the lock. Threads: any.
class RecentLocks {
 public:
  /// Remembers that one for so long, or until a thousand others have been used since.
  void use(InterProcessReadWriteLock lock, Clock::duration time);

 private:
  static constexpr std::size_t max_number = 1'000;
  struct Used {
    InterProcessReadWriteLock lock;
    Clock::time_point until;
  };

  std::mutex mutex_;
  std::list<Used> all_;                                                     // the last used one is the first
  std::unordered_map<std::string_view, std::list<Used>::iterator> places_;  // by the locks' own paths
};

/// The locks of one ensemble. Threads: any.
class RegistryCore {
 public:
  RegistryCore(const ClientHandle& client, std::string base, LockSettings settings)
      : client_{client}, base_{std::move(base)}, settings_{settings} {}

  [[nodiscard]] const ClientHandle& client() const noexcept { return client_; }
  [[nodiscard]] const std::string& base() const noexcept { return base_; }
  /// Throws LockError::invalid_lock_path.
  [[nodiscard]] std::string path_of(std::string_view name) const;
  /// Throws LockError::invalid_lock_path.
  [[nodiscard]] InterProcessReadWriteLock lock_of(std::string_view name) const;

 private:
  ClientHandle client_;
  std::string base_;
  LockSettings settings_;
  mutable RecentLocks recent_;
};

/// The ensembles of a registry. Threads: any.
class RegistryEnsembles {
 public:
  RegistryEnsembles(const ClientHandle& client, const std::string& base, LockSettings settings);
  /// Throws Error::bad_arguments.
  RegistryEnsembles(const std::vector<RegistryEnsemble>& ensembles, const std::string& base, LockSettings settings);

  [[nodiscard]] const std::string& base() const noexcept { return parts_.front().core->base(); }
  [[nodiscard]] const std::string& name_of_ensemble(std::string_view name) const { return part_of(name).name; }
  [[nodiscard]] const std::shared_ptr<const RegistryCore>& core_of(std::string_view name) const {
    return part_of(name).core;
  }

 private:
  struct Part {
    std::string name;  // of the ensemble
    std::uint32_t weight;
    std::shared_ptr<const RegistryCore> core;
  };

  [[nodiscard]] const Part& part_of(std::string_view name) const;

  std::vector<Part> parts_;
};

}  // namespace zklock::detail
