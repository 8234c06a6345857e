// What processes and threads do together, and note in a log.
#pragma once

#include "support/fixture.hpp"

#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>
#include <zklock/recipes/nodes/group.hpp>
#include <zklock/recipes/shared/shared_count.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace zklock::test {

/// Waits for a turn, and returns what holds it: a lock, or the lead.
inline std::function<Lease()> turns(const ClientHandle& client, const std::string& kind, const std::string& path) {
  const auto lead = [](const LeaderElection& election) { return [election] { return election.lead().into_lease(); }; };
  if (kind == "mutex") return [mutex = std::make_shared<InterProcessMutex>(client, path)] { return acquire(*mutex); };
  if (kind == "latch") return lead(LeaderLatch{client, path});
  if (kind == "selector") return lead(LeaderSelector{client, path});
  if (kind == "election") return lead(LeaderSelector{client, path, LockNaming::kazoo});
  throw std::invalid_argument{kind};
}

/// Notes what its process has done.
inline void note(const std::filesystem::path& log, const std::string& word, const std::string& number) {
  std::ofstream{log, std::ios::app} << word + " " + std::to_string(::getpid()) + " " + number + "\n";
}
inline void note(const std::filesystem::path& log, const std::string& word, const Lease& turn) {
  const std::string node = turn.node_path();
  note(log, word, node.substr(node.size() - 10));
}

/// zklock's part of a crowd, as the peers' "work". Takes that many turns, and notes when it is in, for a moment, and
/// out.
inline void work(const ClientHandle& client, const std::string& kind, const std::string& path, int times,
                 const std::filesystem::path& log) {
  const auto next = turns(client, kind, path);
  for (int n = 0; n < times; ++n) {
    const Lease turn = next();
    note(log, "in", turn);
    static_cast<void>(sync(client.session()));  // as long as others may take to come in
    note(log, "out", turn);
  }
}

/// zklock's part in counting, as the peers' "add". Notes each value that it is told to have set.
inline void add(const ClientHandle& client, const std::string& path, std::int32_t difference, int times,
                const std::filesystem::path& log) {
  const SharedCount count{client, path, 0};
  auto known = count.get();
  for (int done = 0; done < times;) {
    const auto exchange = count.compare_and_set(known, known.value + difference);
    known = *exchange.current;
    if (!exchange.is_set) continue;
    note(log, "set", std::to_string(known.value));
    ++done;
  }
}

/// "id=payload,id=payload", by id, as the peers show it.
inline std::string shown(const Group& group) {
  std::string all;
  for (const auto& [id, member] : group.members().members) all += (all.empty() ? "" : ",") + id + "=" + member.payload;
  return all;
}

/// The result of a crowd's log.
struct Grants {
  int number = 0;
  int overlaps = 0;
  int overtakings = 0;  ///< grants before that of a contender that came earlier
  int killed_inside = 0;
  std::set<std::string> processes{};  ///< those that had a turn
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
      if (inside == process) {
        ++grants.killed_inside;
        inside.clear();
      }
      continue;
    }
    int number = 0;
    lines >> number;
    if (word == "in") {
      ++grants.number;
      grants.processes.insert(process);
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
