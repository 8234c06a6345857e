// What a LockRegistry and its operations refer to.
#pragma once

#include <zklock/recipes/locks/lock_registry.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::detail {

/// The locks of one ensemble. Threads: any.
class RegistryCore {
 public:
  RegistryCore(const ClientHandle& client, std::string base) : client_{client}, base_{std::move(base)} {}

  [[nodiscard]] const ClientHandle& client() const noexcept { return client_; }
  [[nodiscard]] const std::string& base() const noexcept { return base_; }
  /// Throws LockError::invalid_lock_path.
  [[nodiscard]] std::string path_of(std::string_view name) const;

 private:
  ClientHandle client_;
  std::string base_;
};

/// The ensembles of a registry. Threads: any.
class RegistryEnsembles {
 public:
  RegistryEnsembles(const ClientHandle& client, const std::string& base);
  /// Throws Error::bad_arguments.
  RegistryEnsembles(const std::vector<RegistryEnsemble>& ensembles, const std::string& base);

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
