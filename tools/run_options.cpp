#include "run_options.hpp"

#include "common_options.hpp"
#include "duration.hpp"
#include "help.hpp"

#include <zklock/recipes/leader/leader_latch.hpp>

#include <cstdint>
#include <limits>

namespace zklock::tools {
namespace {

using std::chrono::milliseconds;

/// The options for the kind of lock; without one of them it is the mutex.
void add_modes(CLI::App& run, RunOptions& options) {
  auto* shared = run.add_flag_callback(
      "--shared", [&] { options.mode = Mode::shared; },
      "The read lock of a read/write lock: readers run together. Without it, --exclusive and --permits: a mutex, "
      "which is another lock and excludes neither readers nor writers: use one kind on a PATH");
  auto* exclusive = run.add_flag_callback(
      "--exclusive", [&] { options.mode = Mode::exclusive; },
      "The write lock of a read/write lock: alone, as with a mutex, but readers are kept out, too");
  const auto use_permits = [&](std::int32_t number) {
    options.mode = Mode::permit;
    options.permits = number;
  };
  auto* permits = run.add_option_function<std::int32_t>(
      "--permits", use_permits, "One permit of a semaphore that has so many: as many run together");
  permits->type_name("NUMBER")->check(CLI::Range(std::int32_t{1}, std::numeric_limits<std::int32_t>::max()));
  exclusive->excludes(shared);
  permits->excludes(shared)->excludes(exclusive);
}

/// What `zklock run` and `zklock lead` have in common.
void add_running(CLI::App* run, RunOptions& options) {
  add_duration(
      *run, "--timeout", [&](milliseconds wait) { options.timeout = wait; },
      "How long to wait for the lock, as 500ms, 1.5s, 2m, 1h; 0: one try. Default: as long as it takes");
  add_duration(
      *run, "--session-timeout", [&](milliseconds timeout) { options.session_timeout = timeout; },
      "How long to be out of touch before the lock goes to others; the server grants 2 to 20 of its ticks. "
      "Default: " +
          format_duration(options.session_timeout));
  add_duration(
      *run, "--kill-after", [&](milliseconds grace) { options.kill_after = grace; },
      "From SIGTERM to SIGKILL for a command that has lost the lock, or shall give it back. Default: " +
          format_duration(options.kill_after));
  add_where(*run, options.where);
  run->add_flag("--dev", options.where.dev, "Start a throw-away server for this one run");
}

}  // namespace

CLI::App* add_run(CLI::App& app, RunOptions& options) {
  auto* run = app.add_subcommand("run", help::run_about);
  run->footer(help::run_footer);
  run->add_option("PATH", options.path, "The lock, such as /locks/nightly; made when it is first needed")->required();
  add_modes(*run, options);
  run->add_flag("--revocable", options.revocable,
                "End the command when another client asks for the lock (zklock revoke)");
  add_duration(
      *run, "--max-hold", [&](milliseconds hold) { options.max_hold = hold; },
      "How long to hold the lock at most, as 30s: then it goes to others, and the command is ended. Default: no limit");
  add_running(run, options);
  return run;
}

CLI::App* add_lead(CLI::App& app, RunOptions& options) {
  options.mode = Mode::latch;
  auto* lead = app.add_subcommand("lead", help::lead_about);
  lead->footer(help::lead_footer);
  lead->add_option("PATH", options.path, "The election, such as /leader/nightly; made when it is first needed")
      ->required();
  lead->add_option_function<std::string>(
          "--id", [&](const std::string& id) { options.id = id; },
          "The name that others see of this candidate. Default: host, process and a random number")
      ->type_name("ID");
  auto* priority = lead->add_option_function<int>(
      "--priority", [&](int number) { options.priority = number; },
      "The candidate with the highest one leads, as far as all have one");
  priority->type_name("NUMBER")->check(CLI::Range(0, max_latch_priority));
  lead->add_flag_callback(
          "--selector", [&] { options.mode = Mode::selector; },
          "A LeaderSelector's election, beside JVM services that have one; else a LeaderLatch's")
      ->excludes(priority);
  add_running(lead, options);
  return lead;
}

}  // namespace zklock::tools
