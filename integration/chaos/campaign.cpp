#include "campaign.hpp"

#include "cluster.hpp"
#include "fleet.hpp"
#include "foreign_user.hpp"
#include "layout.hpp"
#include "nemesis.hpp"
#include "soak/busy_watch.hpp"
#include "support/fixture.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace zklock::chaos {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// Counts how often the register has let a user in, by its log as the log grows.
class RegisterLog {
 public:
  explicit RegisterLog(const std::filesystem::path& log) : file_{log} {}
  std::int64_t count() {
    file_.clear();
    for (std::string line; std::getline(file_, line);)
      if (line.find(" entered ") != std::string::npos) ++count_;
    return count_;
  }

 private:
  std::ifstream file_;
  std::int64_t count_ = 0;
};

void make_first_nodes(const Cluster& cluster) {
  const Client client{{.connect_string = cluster.connect_string()}};
  for (const char* path : {marks, tree_root}) {
    const auto made = test::outcome_of_operation<CreateResult>(
        [&](auto token) { client.async_create(path, "", CreateMode::persistent, std::move(token)); });
    if (std::get<0>(made)) throw boost::system::system_error{std::get<0>(made), path};
  }
}

/// A server that has ended by itself, or has left the others, as 3.8.0 sometimes does, has to come back first.
std::int64_t count_at(Cluster& cluster, std::size_t server, const char* what) {
  for (int tries_left = 3;;) {
    try {
      return cluster.server(server).monitor(what);
    } catch (const std::runtime_error&) {
      if (--tries_left == 0) throw;
      cluster.server(server).start();
      cluster.wait_serving();
    }
  }
}

/// Notes what is left at the servers, once all users are at rest and still connected. The servers get some time to
/// clean up.
void take_census(Cluster& cluster, const Log& log) {
  for (const char* what : {"zk_watch_count", "zk_ephemerals_count"})
    for (std::size_t i = 0; i < cluster.size(); ++i) {
      static_cast<void>(test::eventually([&] { return count_at(cluster, i, what) == 0; }, 10s));
      log.write({.event = Event::measured, .number = count_at(cluster, i, what), .reason = what});
    }
}

/// Of as many processes, in turn.
std::vector<std::string> libraries_of(std::size_t foreign_users) {
  if (foreign_users == 0) return {};
  const auto here = find_libraries();
  std::vector<std::string> all;
  for (std::size_t i = 0; i < foreign_users && !here.empty(); ++i) all.push_back(here[i % here.size()]);
  return all;
}

class Campaign {
 public:
  explicit Campaign(const CampaignOptions& options) : options_{options} {}

  CampaignOutcome run() {
    const auto start = steady_clock::now();
    make_first_nodes(cluster_);
    fleet_.emplace(cluster_,
                   FleetOptions{options_.workers, options_.users, options_.seed, options_.session_timeout,
                                options_.long_stays, options_.directory, libraries_of(options_.foreign_users)},
                   port_);
    // Four lanes. A fault takes about as long as the rest between two faults.
    Nemesis nemesis{cluster_,
                    *fleet_,
                    log_,
                    {options_.seed, options_.session_timeout, 1'500ms * options_.longest.count() / options_.faults,
                     options_.directory}};
    while (nemesis.failure().empty() && !is_over(nemesis, steady_clock::now() - start)) {
      static_cast<void>(test::eventually([&] { return !nemesis.failure().empty(); }, 1s));
      fleet_->replace_dead(log_);
      fleet_->note_connections(log_);
      print_progress(nemesis, steady_clock::now() - start);
    }
    nemesis.stop();
    if (!nemesis.failure().empty()) throw std::runtime_error{nemesis.failure()};
    cluster_.wait_serving();
    log_.write({.event = Event::healed, .reason = "all"});
    fleet_->replace_dead(log_);
    fleet_->drain();
    fleet_->note_requests(log_);
    take_census(cluster_, log_);
    fleet_->quit(log_);
    note_stalls();
    cluster_.stop_and_keep_logs(options_.directory);
    return {std::chrono::duration<double>{steady_clock::now() - start}.count(), nemesis.counts()};
  }

 private:
  bool is_over(const Nemesis& nemesis, steady_clock::duration elapsed) {
    return elapsed >= options_.longest ||
           (register_log_.count() >= options_.acquisitions && nemesis.total() >= options_.faults);
  }

  void note_stalls() {
    const auto now = Clock::now();
    const std::int64_t at = now_in_microseconds();
    for (const auto& of_processor : stall_watch_.stalls())
      for (const test::Interval& each : of_processor) {
        const auto ago = std::chrono::duration_cast<std::chrono::microseconds>(now - each.to);
        const auto length = std::chrono::duration_cast<std::chrono::milliseconds>(each.to - each.from);
        log_.write({.at = at - ago.count(), .event = Event::late, .number = length.count()});
      }
  }

  void print_progress(const Nemesis& nemesis, steady_clock::duration elapsed) {
    const auto counts = nemesis.counts();
    const auto count = [&](const char* kind) { return counts.contains(kind) ? counts.at(kind) : 0; };
    std::printf("%5.0f s  %lld acquisitions, %d faults (%d long pauses of clients, %d leaders killed)\n",
                std::chrono::duration<double>{elapsed}.count(), static_cast<long long>(register_log_.count()),
                nemesis.total(), count("client_paused_beyond_timeout"),
                count("leader_killed") + count("majority_killed"));
    std::fflush(stdout);
  }

  CampaignOptions options_;
  Log log_{options_.directory / "faults"};
  test::StallWatch stall_watch_;
  Cluster cluster_{options_.servers};  // first: the others are to be in the same network
  test::Process register_{"/proc/self/exe", {"register", "--log", (options_.directory / "register").string()}};
  std::uint16_t port_ = static_cast<std::uint16_t>(std::stoi(register_.line()));
  RegisterLog register_log_{options_.directory / "register"};
  std::optional<Fleet> fleet_{};
};

}  // namespace

CampaignOutcome run_campaign(const CampaignOptions& options) { return Campaign{options}.run(); }

}  // namespace zklock::chaos
