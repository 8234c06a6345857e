// The fault campaign's processes: workers, the register, and the director, which starts the others and judges them.
#include "campaign.hpp"
#include "foreign_user.hpp"
#include "register.hpp"
#include "report.hpp"
#include "worker.hpp"

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>

#include <sys/prctl.h>

namespace {

using namespace zklock::chaos;

int keep_register(const std::string& log) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Register reg{log};
  std::cout << reg.port() << std::endl;
  reg.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Faults and lock users, and a judge."};
  app.require_subcommand(1);

  WorkerOptions worker;
  std::int64_t timeout = worker.session_timeout.count();
  CLI::App* work_command = app.add_subcommand("work", "a process with lock users");
  work_command->add_option("--connect", worker.connect_string)->required();
  work_command->add_option("--log", worker.log)->required();
  work_command->add_option("--register", worker.register_port)->required();
  work_command->add_option("--process", worker.process)->required();
  work_command->add_option("--slot", worker.slot);
  work_command->add_option("--users", worker.users);
  work_command->add_option("--long-stays", worker.long_stays);
  work_command->add_option("--seed", worker.seed);
  work_command->add_option("--timeout", timeout, "of the session, in milliseconds");

  ForeignUserOptions foreign;
  CLI::App* visit_command = app.add_subcommand("visit", "a process with a lock user of another library");
  visit_command->add_option("--library", foreign.library)->required()->check(CLI::IsMember({"curator", "kazoo"}));
  visit_command->add_option("--connect", foreign.connect_string)->required();
  visit_command->add_option("--log", foreign.log)->required();
  visit_command->add_option("--register", foreign.register_port)->required();
  visit_command->add_option("--process", foreign.process)->required();
  visit_command->add_option("--seed", foreign.seed);
  visit_command->add_option("--timeout", timeout, "of the session, in milliseconds");

  std::string log;
  CLI::App* register_command = app.add_subcommand("register", "the resource that the locks protect");
  register_command->add_option("--log", log)->required();

  CampaignOptions campaign;
  std::int64_t seconds = campaign.longest.count();
  CLI::App* run_command = app.add_subcommand("run", "a campaign");
  run_command->add_option("--seconds", seconds);
  run_command->add_option("--acquisitions", campaign.acquisitions);
  run_command->add_option("--faults", campaign.faults);
  run_command->add_option("--seed", campaign.seed);
  run_command->add_option("--servers", campaign.servers)->check(CLI::IsMember({1, 3}));
  run_command->add_option("--workers", campaign.workers);
  run_command->add_option("--long-stays", campaign.long_stays);
  run_command->add_option("--users", campaign.users);
  run_command->add_option("--foreign-users", campaign.foreign_users);
  run_command->add_option("--directory", campaign.directory)->required();
  run_command->add_flag("--busy-machine", campaign.busy_machine, "quiet times have the limits of troubled ones");

  CLI::App* judge_command = app.add_subcommand("judge", "the verdict on a campaign that has been run");
  judge_command->add_option("--directory", campaign.directory)->required();
  judge_command->add_flag("--busy-machine", campaign.busy_machine);

  CLI11_PARSE(app, argc, argv);
  std::signal(SIGPIPE, SIG_IGN);  // an ended process is found out otherwise
  try {
    worker.session_timeout = foreign.session_timeout = std::chrono::milliseconds{timeout};
    campaign.longest = std::chrono::seconds{seconds};
    if (*work_command || *visit_command) {
      const std::string errors = (*work_command ? worker.log : foreign.log).string() + ".errors";
      std::freopen(errors.c_str(), "w", stderr);  // no process reads the pipe
      std::setvbuf(stderr, nullptr, _IONBF, 0);   // the last words of an abort, too
      return *work_command ? work(worker) : be_foreign_user(foreign);
    }
    if (*run_command) {
      return report(campaign, run_campaign(campaign)) ? 0 : 1;
    }
    if (*judge_command) return report(campaign, {}) ? 0 : 1;
    return keep_register(log);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chaos: %s\n", error.what());
    return 3;
  }
}
