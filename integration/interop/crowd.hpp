// A crowd of processes and threads that share one lock, and note in a log when they hold it.
#pragma once

#include "support/fixture.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace zklock::test {

/// zklock's part of a crowd, as the peers' "work". Takes the mutex that many times, and notes when it is in, for a
/// moment, and out, by its process and its node's number.
inline void work(const ClientHandle& client, const std::string& path, int times, const std::filesystem::path& log) {
  const InterProcessMutex mutex{client, path};
  std::ofstream out{log, std::ios::app};
  for (int n = 0; n < times; ++n) {
    const Lease lease = acquire(mutex);
    const std::string node = lease.node_path();
    const std::string who = std::to_string(::getpid()) + " " + node.substr(node.size() - 10) + "\n";
    out << "in " + who << std::flush;
    static_cast<void>(sync(client.session()));  // as long as others may take to come in
    out << "out " + who << std::flush;
  }
}

/// The result of a crowd's log.
struct Grants {
  int number = 0;
  int overlaps = 0;
  int overtakings = 0;  ///< grants before that of a contender that came earlier
};

/// Reads lines "in PROCESS NUMBER", "out PROCESS NUMBER", and "killed PROCESS" for a process that was killed and will
/// not say "out".
inline Grants read_grants(const std::filesystem::path& log) {
  Grants grants;
  std::ifstream lines{log};
  std::string word;
  std::string process;
  std::string inside;
  int last = -1;
  while (lines >> word >> process) {
    if (word == "killed") {
      if (inside == process) inside.clear();
      continue;
    }
    int number = 0;
    lines >> number;
    if (word == "in") {
      ++grants.number;
      if (!inside.empty()) ++grants.overlaps;
      if (number <= last) ++grants.overtakings;
      inside = process;
      last = number;
    } else {
      if (inside != process || number != last) ++grants.overlaps;
      inside.clear();
    }
  }
  return grants;
}

}  // namespace zklock::test
