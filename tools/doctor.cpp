#include "doctor.hpp"

#include "connection.hpp"
#include "counted.hpp"
#include "failure.hpp"
#include "printable.hpp"

#include <algorithm>
#include <iostream>
#include <thread>
#include <utility>

namespace zklock::tools {
namespace {

void count(Diagnosis& diagnosis, const LockDirectory& directory) {
  diagnosis.locks += directory.queues.size();
  for (const WaitQueue& queue : directory.queues) diagnosis.nodes += queue.size();
}

/// Reads the nodes twice, since they are read one after the other: what holds for all nodes that are there in both
/// readings held for them together, in between.
Diagnosis diagnose(const ClientHandle& client, const DoctorOptions& options) {
  const Survey first = survey(client, options.paths, {options.max_nodes, options.max_depth});
  std::this_thread::sleep_for(options.wait);
  const auto still_there = look_again(client, first.directories);

  Diagnosis diagnosis;
  diagnosis.findings =
      find_all(first, still_there, first, {options.wait, options.stuck_after, std::chrono::system_clock::now()});
  for (const LockDirectory& directory : first.directories) count(diagnosis, directory);
  return diagnosis;
}

}  // namespace

bool Diagnosis::has_problems() const {
  return std::ranges::any_of(findings, [](const Finding& one) { return one.severity == Severity::problem; });
}

std::string to_text(const Diagnosis& diagnosis) {
  std::string text;
  for (const Finding& one : diagnosis.findings) {
    text += std::string{to_string(one.severity)} + ": " + one.kind + ": " + printable(one.node) + "\n";
    text += "  " + printable(one.what) + "\n  what to do: " + one.remedy + "\n";
  }
  const auto problems =
      static_cast<std::size_t>(std::ranges::count(diagnosis.findings, Severity::problem, &Finding::severity));
  return text + counted(diagnosis.locks, "lock") + " in use, " + counted(diagnosis.nodes, "node") +
         " in wait queues: " + counted(problems, "problem") + ", " +
         counted(diagnosis.findings.size() - problems, "note") + "\n";
}

int doctor(const DoctorOptions& options) {
  const Connection connection{options.where};
  const auto diagnosis = connection.with_client([&](const Client& client) { return diagnose(client, options); });
  std::cout << (options.json ? to_json(diagnosis) : to_text(diagnosis)) << std::flush;
  return std::cout && !diagnosis.has_problems() ? 0 : status::found;
}

}  // namespace zklock::tools
