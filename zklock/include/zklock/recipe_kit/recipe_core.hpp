// What the operations of a recipe's object refer to.
#pragma once

#include <zklock/client.hpp>
#include <zklock/detail/initiate.hpp>

#include <string>
#include <utility>

namespace zklock::detail {

/// A client and a path; detail::initiate() takes a shared_ptr of it. A recipe that keeps more derives its own from it.
///
/// Threads: any.
class RecipeCore {
 public:
  RecipeCore(const ClientHandle& client, std::string path) : client_{client}, path_{std::move(path)} {}

  [[nodiscard]] const ClientHandle& client() const noexcept { return client_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  ClientHandle client_;
  std::string path_;
};

}  // namespace zklock::detail
