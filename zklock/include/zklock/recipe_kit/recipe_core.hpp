// What the operations of a recipe's object refer to.
#pragma once

#include <zklock/client.hpp>
#include <zklock/detail/initiate.hpp>

#include <boost/system/system_error.hpp>

#include <string>
#include <utility>

namespace zklock::detail {

/// A client and a path; a recipe that keeps more derives its own from it. detail::initiate() takes a shared_ptr of it,
/// and asks the three functions below.
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

inline asio::any_io_executor serial_executor(const RecipeCore& recipe) { return recipe.client().get_executor(); }
inline asio::any_io_executor callback_executor(const RecipeCore& recipe) { return recipe.client().callback_executor(); }
inline void refuse_after_fork(const RecipeCore& recipe) {
  if (recipe.client().in_forked_child())
    throw boost::system::system_error{make_error_code(Error::used_after_fork), recipe.path()};
}

}  // namespace zklock::detail
