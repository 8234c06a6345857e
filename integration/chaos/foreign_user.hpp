// A process of the campaign that takes locks by another library, on the same paths as the lock users.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace zklock::chaos {

struct ForeignUserOptions {
  std::string library{};  ///< "curator", on Java, or "kazoo", on Python
  std::string connect_string{};
  std::filesystem::path log{};
  std::uint16_t register_port = 0;
  int process = 0;
  std::uint64_t seed = 0;
  std::chrono::milliseconds session_timeout{2'000};
};

/// The libraries that this machine has. Prints which are missing.
[[nodiscard]] std::vector<std::string> find_libraries();

/// Has the library's program as a child, in a process group with it, and does what `work` does on the same words; it
/// notes what a lock user notes. Says "working" at once: the program may take seconds to start.
///
/// What the library says of a release is not noted: both say of a lost lock that they have released it.
int be_foreign_user(const ForeignUserOptions& options);

}  // namespace zklock::chaos
