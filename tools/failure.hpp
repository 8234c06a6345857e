// The program's exit statuses, and failures that end it with one of them.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace zklock::tools {

/// After sysexits.h and the shell. A command's own status may be any of them: the message on stderr distinguishes them.
namespace status {
inline constexpr int found = 1;  ///< the answer is not the desired one
inline constexpr int usage = 64;
inline constexpr int unavailable = 69;   ///< ZooKeeper failed
inline constexpr int not_acquired = 75;  ///< sysexits' "temporary failure; try again"
inline constexpr int lock_lost = 76;
inline constexpr int cannot_execute = 126;
inline constexpr int not_found = 127;
constexpr int of_signal(int number) { return 128 + number; }
}  // namespace status

class Failure : public std::runtime_error {
 public:
  Failure(int status, const std::string& message) : std::runtime_error{message}, status_{status} {}
  [[nodiscard]] int status() const noexcept { return status_; }

 private:
  int status_;
};

/// Writes one line on stderr, in the program's name.
void say(std::string_view message);

/// Reports the reason, and returns the status to end with: usage, if zklock refused an argument; else a failure of
/// ZooKeeper.
[[nodiscard]] int report(const std::exception& why);

}  // namespace zklock::tools
