// zklock: distributed locks from the command line.
#include "command_line.hpp"
#include "count.hpp"
#include "dashboard/dashboard.hpp"
#include "doctor.hpp"
#include "failure.hpp"
#include "leaders.hpp"
#include "ls.hpp"
#include "revoke.hpp"
#include "run.hpp"
#include "server.hpp"
#include "standard_files.hpp"
#include "top/top.hpp"
#include "tree.hpp"

namespace zklock::tools {
namespace {

int perform(const RunOptions& options) { return run(options); }
int perform(const LsOptions& options) { return ls(options); }
int perform(const LeadersOptions& options) { return leaders(options); }
int perform(const RevokeOptions& options) { return revoke(options); }
int perform(const DoctorOptions& options) { return doctor(options); }
int perform(const DashboardOptions& options) { return dashboard(options); }
int perform(const TopOptions& options) {
  if constexpr (has_top) return top(options);
  return status::usage;
}
int perform(const CountOptions& options) { return count(options); }
int perform(const TreeOptions& options) { return tree(options); }
int perform(const WatchOptions& options) { return watch(options); }
int perform(const ServerOptions& options) { return server(options); }

}  // namespace
}  // namespace zklock::tools

int main(int argc, char** argv) try {
  using namespace zklock::tools;
  open_standard_files();
  const auto parsed = parse_command_line(argc, argv);
  if (const auto* done = std::get_if<Done>(&parsed)) return done->status;
  return std::visit([](const auto& options) { return perform(options); }, std::get<Options>(parsed));
} catch (const std::exception& error) {
  return zklock::tools::report(error);
}
