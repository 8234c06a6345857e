// Numbers of things, in words.
#pragma once

#include <cstddef>
#include <string>

namespace zklock::tools {

/// "1 lock", "2 locks"
[[nodiscard]] inline std::string counted(std::size_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

}  // namespace zklock::tools
