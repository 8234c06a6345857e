#include "hexadecimal.hpp"

#include <sstream>

namespace zklock::tools {

std::string to_hexadecimal(std::int64_t number) {
  std::ostringstream text;
  text << "0x" << std::hex << number;
  return text.str();
}

}  // namespace zklock::tools
