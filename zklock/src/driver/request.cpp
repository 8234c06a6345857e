#include "driver.hpp"

namespace zklock {

std::string_view to_string(Operation operation) noexcept {
  switch (operation) {
    case Operation::create: return "create";
    case Operation::remove: return "remove";
    case Operation::exists: return "exists";
    case Operation::get_data: return "get_data";
    case Operation::set_data: return "set_data";
    case Operation::get_children: return "get_children";
    case Operation::get_acl: return "get_acl";
    case Operation::set_acl: return "set_acl";
    case Operation::sync: return "sync";
    case Operation::check: return "check";
    case Operation::multi: return "commit";
  }
  return "unknown";
}

}  // namespace zklock
