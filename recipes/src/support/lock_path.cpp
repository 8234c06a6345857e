#include <zklock/path.hpp>
#include <zklock/recipes/locks/lock_path.hpp>

#include <boost/system/system_error.hpp>

#include <cstddef>
#include <new>

namespace zklock {

namespace {

constexpr std::size_t max_lock_path = 1000;

Flaw flaw_of(std::string_view path) noexcept {
  if (const Flaw flaw = validate_path(path, std::nothrow)) return flaw;
  if (path == "/") return {0, "the root cannot be a lock"};
  if (path == "/zookeeper" || path.starts_with("/zookeeper/")) return {0, "/zookeeper is the server's own"};
  if (path.size() > max_lock_path) return {max_lock_path, "more than 1000 bytes"};
  return {};
}

}  // namespace

void validate_lock_path(std::string_view path) {
  if (const Flaw flaw = flaw_of(path))
    throw boost::system::system_error{LockError::invalid_lock_path, describe(flaw, path)};
}

}  // namespace zklock
