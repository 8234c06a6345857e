// The configuration of a ZooKeeper server, and the files that it leaves.
#pragma once

#include <zklock/testing/test_server.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace zklock::testing {

/// An unused name below the system's temporary directory.
[[nodiscard]] std::filesystem::path new_directory_name();

/// Throws std::invalid_argument, which names the options and the rule, unless the condition is met.
void require(bool condition, const char* options, const char* rule);

/// The options with the class path filled in. Throws std::invalid_argument.
[[nodiscard]] TestServerOptions checked(TestServerOptions options);

/// Where a server listens, and the ensemble that it belongs to.
struct Place {
  std::string address = "127.0.0.1";
  int id = 0;                          ///< its id in the ensemble; 0: it is standalone
  std::vector<std::string> members{};  ///< the lines of the configuration that name the ensemble's members
};

/// The command that starts a server with the configuration of this directory.
[[nodiscard]] std::vector<std::string> command(const TestServerOptions& options, const Place& place,
                                               const std::filesystem::path& directory);

void write_configuration(const std::filesystem::path& directory, const TestServerOptions& options, const Place& place,
                         std::uint16_t port);

/// The data directory of the configuration.
[[nodiscard]] inline std::filesystem::path data_directory(const std::filesystem::path& directory) {
  return directory / "data";
}

/// A server that is killed while it creates a new transaction log leaves one without a whole header, and ends at its
/// next start (3.8.0, FileTxnLog: EOFException, as in ZOOKEEPER-1621). Such a last log cannot contain a transaction:
/// this function renames it to "headless.log.<zxid>", which no server reads. Returns its former name; empty: there was
/// none.
std::string set_aside_headless_log(const std::filesystem::path& directory);

/// 0 for a missing file.
[[nodiscard]] std::uintmax_t size_of(const std::filesystem::path& file);

/// The end of a log, at most one screen, and nothing before the given offset.
[[nodiscard]] std::string tail(const std::filesystem::path& log, std::uintmax_t from);

}  // namespace zklock::testing
