// Load and faults for as long as the user wants, and the growth meanwhile: of this process's memory, descriptors and
// threads, and of the server's watches, nodes, ephemeral nodes, connections and sessions.
//
// Between rounds everything is put to rest and measured: counts must be what they were after the first round.
#include "growth.hpp"
#include "overload.hpp"
#include "support/await.hpp"
#include "support/frame_proxy.hpp"
#include "workers.hpp"

#include <zklock/session.hpp>
#include <zklock/testing/test_server.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>

#include <unistd.h>

namespace zklock::test {
namespace {

using Seconds = std::chrono::duration<double>;

struct Options {
  int seconds = 600;
  std::uint64_t seed = std::random_device{}();
  std::size_t workers = 6;
  double memory_bound = 256;       // KiB
  double resident_bound = 16'384;  // KiB; includes the allocator's habits
};

class Soak {
 public:
  explicit Soak(const Options& options) : options_{options} {
    for (const char* name :
         {"zk_watch_count", "zk_znode_count", "zk_ephemerals_count", "zk_num_alive_connections", "zk_global_sessions"})
      series_.push_back({.name = name});
    series_.push_back({.name = "descriptors"});
    series_.push_back({.name = "threads"});
    series_.push_back({.name = "allocated", .unit = "KiB", .bound = options.memory_bound});
    series_.push_back({.name = "resident", .unit = "KiB", .bound = options.resident_bound});
  }

  /// True: nothing has grown, and nothing else went wrong.
  bool run() {
    const std::chrono::milliseconds round =
        std::clamp<std::chrono::milliseconds>(1000ms * options_.seconds / 24, 2s, 15s);
    bool fine = play_round(round, true) && measure();  // it makes all that is made once
    start_of_run_ = workers_.turns();
    const auto end = now() + std::chrono::seconds{options_.seconds};
    while (fine && now() < end)
      fine = play_round(std::min<Seconds>(round, end - now()), ++rounds_ % 3 == 0) && measure();
    workers_.stop();
    if (fine && workers_.turns() == start_of_run_) fails("nothing was done");
    return report();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static Clock::time_point now() { return Clock::now(); }
  [[nodiscard]] double elapsed() const { return Seconds{now() - start_}.count(); }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  /// Faults for that long, then rest. False: the load has failed, or does not come to rest.
  bool play_round(Seconds length, bool with_restart) {
    const auto end = now() + std::chrono::duration_cast<Clock::duration>(length);
    auto next_line = now() + 1s;
    workers_.go_on();
    if (with_restart) restart();
    while (now() < end && workers_.failure().empty()) {
      wait(100 + below(900));
      harm();
      if (now() < next_line) continue;
      print_line();
      next_line = now() + 1s;
    }
    for (FrameProxy& proxy : proxies_) heal(proxy);
    const bool rests = workers_.rest();
    if (!rests && workers_.failure().empty())
      return fails("a worker does not end its turn, or a client does not connect again");
    return rests;
  }

  void restart() {
    below(2) == 0 ? server_.stop() : server_.kill();
    server_.start();
    ++restarts_;
  }

  void harm() {
    FrameProxy& proxy = proxies_[below(std::size(proxies_))];
    switch (below(6)) {
      case 0:
      case 1: expire(); break;
      case 2:
        proxy.cut();
        ++cuts_;
        break;
      case 3:
        proxy.hold(below(2) == 0 ? Direction::requests : Direction::replies);
        wait(below(300));
        below(2) == 0 ? proxy.cut() : void();
        heal(proxy);
        ++cuts_;
        break;
      case 4:
        proxy.refuse();
        proxy.cut();
        wait(below(300));
        heal(proxy);
        ++cuts_;
        break;
      default: cut_at_a_frame(proxy);
    }
  }

  void cut_at_a_frame(FrameProxy& proxy) {
    constexpr Opcode opcodes[] = {Opcode::create2,       Opcode::remove,        Opcode::multi,
                                  Opcode::get_children2, Opcode::sync,          Opcode::create_session,
                                  Opcode::close_session, Opcode::remove_watches};
    proxy.cut_at({.opcode = opcodes[below(std::size(opcodes))],
                  .point = CutPoint{static_cast<int>(below(5))},
                  .manner = CutManner{static_cast<int>(below(2))},
                  .nth = static_cast<int>(1 + below(5))});
  }

  void expire() {
    const SessionCredentials session = workers_.session(below(workers_.count())).credentials();
    if (session.id == 0) return;
    server_.end_session(session.id, {session.password.data(), session.password.size()});
    ++expiries_;
  }

  static void heal(FrameProxy& proxy) {
    proxy.accept_again();
    proxy.resume(Direction::requests);
    proxy.resume(Direction::replies);
  }

  /// Waits for that long during a fault.
  void wait(std::uint64_t milliseconds) {
    static_cast<void>(eventually([&] { return !workers_.failure().empty(); }, std::chrono::milliseconds{milliseconds}));
  }

  /// Measures at rest. The server gets the time to clean up what is left, above all sessions that were cut off. False:
  /// it keeps what no client uses.
  bool measure() {
    std::vector<double> counts;
    static_cast<void>(eventually([&] { return is_as_at_first(counts = look()); }, 20s));
    for (std::size_t i = 0; i < counts.size(); ++i) series_[i].add(elapsed(), counts[i]);
    std::printf("%6.1f s  at rest: ", elapsed());
    for (const Series& each : series_) std::printf("%s %.0f  ", each.name.c_str(), each.values.back());
    std::printf("\n");
    std::fflush(stdout);
    return settles(counts) || fails("the server does not come to have the clients' connections and sessions alone");
  }

  std::vector<double> look() {
    const auto server = server_.monitor();
    std::vector<double> counts;
    for (std::size_t i = 0; i < server_counts; ++i) {
      const auto found = server.find(series_[i].name);
      counts.push_back(found == server.end() ? 0 : std::stod(found->second));
    }
    counts.push_back(static_cast<double>(open_descriptors()));
    counts.push_back(static_cast<double>(running_threads()));
    counts.push_back(static_cast<double>(allocated_bytes()) / 1'024);
    counts.push_back(static_cast<double>(resident_bytes()) / 1'024);
    return counts;
  }

  [[nodiscard]] bool is_as_at_first(const std::vector<double>& counts) const {
    for (std::size_t i = 0; i < counts.size() && !series_[i].values.empty(); ++i)
      if (series_[i].bound == 0 && counts[i] > series_[i].values.front()) return false;
    return settles(counts);
  }
  /// All clients are connected, and nothing is left that is known to go.
  [[nodiscard]] bool settles(const std::vector<double>& counts) const {
    const double sessions = static_cast<double>(workers_.count() + (workers_.count() + 2) / 3);
    return counts[0] == 0 && counts[2] == 0 && counts[3] == sessions + 1 && counts[4] == sessions;  // 1: to look
  }

  void print_line() {
    const auto server = server_.monitor();
    const auto number = [&](const char* key) { return server.count(key) ? server.at(key) : std::string{"?"}; };
    std::printf(
        "%6.1f s  %lld turns, %d cuts, %d expiries, %d restarts; %lld KiB resident, %lld descriptors, %lld threads; "
        "server: %s watches, %s nodes, %s ephemerals, %s connections\n",
        elapsed(), static_cast<long long>(workers_.turns()), cuts(), expiries_, restarts_,
        static_cast<long long>(resident_bytes() / 1'024), static_cast<long long>(open_descriptors()),
        static_cast<long long>(running_threads()), number("zk_watch_count").c_str(), number("zk_znode_count").c_str(),
        number("zk_ephemerals_count").c_str(), number("zk_num_alive_connections").c_str());
    std::fflush(stdout);
  }

  int cuts() {
    int sum = cuts_;
    for (FrameProxy& proxy : proxies_) sum += proxy.cuts();
    return sum;
  }

  bool report() {
    std::printf(
        "\n%s\nturns (without an error): %s\nfaults: %d cuts, %d expiries, %d restarts; connections: %d\nseed %llu\n",
        to_table(series_).c_str(), workers_.summary().c_str(), cuts(), expiries_, restarts_,
        proxies_[0].connections() + proxies_[1].connections(), static_cast<unsigned long long>(options_.seed));
    failure_ += workers_.failure();
    if (!failure_.empty()) std::printf("failed: %s", failure_.c_str());
    const bool grown = std::any_of(series_.begin(), series_.end(), [](const Series& each) { return each.has_grown(); });
    std::printf("soak: %s\n", grown ? "something has grown" : failure_.empty() ? "nothing has grown" : "failed");
    return !grown && failure_.empty();
  }

  bool fails(const char* why) {
    failure_ += std::string{why} + "\n";
    return false;
  }

  static constexpr std::size_t server_counts = 5;

  Options options_;
  std::mt19937_64 random_{options_.seed};
  // A lock that is given up when its directory exists and its node does not leaves a container that was never used,
  // which the server keeps unless it is told otherwise.
  testing::TestServer server_{{.jvm_options = {"-Dznode.container.maxNeverUsedIntervalMs=2000"}}};
  FrameProxy proxies_[2]{FrameProxy{server_.port()}, FrameProxy{server_.port()}};
  Workers workers_{{proxies_[0].address(), proxies_[1].address()}, options_.workers, options_.seed};
  std::vector<Series> series_{};
  Clock::time_point start_ = now();
  std::int64_t start_of_run_ = 0;
  std::string failure_;
  int rounds_ = 0;
  int cuts_ = 0;
  int expiries_ = 0;
  int restarts_ = 0;
};

/// What malloc keeps for each thread counts as given out, and fills up over minutes: starts the program anew without
/// it.
void start_without_thread_caches(char** argv) {
  constexpr const char* tunables = "GLIBC_TUNABLES";
  if (std::getenv(tunables)) return;
  ::setenv(tunables, "glibc.malloc.tcache_count=0", 0);
  ::execv("/proc/self/exe", argv);
}

}  // namespace
}  // namespace zklock::test

int main(int argc, char** argv) {
  zklock::test::start_without_thread_caches(argv);
  zklock::test::Options options;
  CLI::App app{"Load and faults for a while, and what has grown meanwhile."};
  const auto* seconds = app.add_option("--seconds", options.seconds,
                                       "how long after the first rest; with --in-flight in all, and 120 unless told")
                            ->check(CLI::Range(5, 86'400))
                            ->capture_default_str();
  app.add_option("--seed", options.seed, "of what is done and harmed, in which order");
  app.add_option("--workers", options.workers, "threads with a client each")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--memory", options.memory_bound, "KiB that malloc's memory may grow; -1: any")->capture_default_str();
  app.add_option("--resident", options.resident_bound, "KiB that the process may grow; -1: any")->capture_default_str();
  zklock::test::OverloadOptions overload;
  const auto* in_flight = app.add_option("--in-flight", overload.in_flight,
                                         "instead: so many operations at once, while the link is cut again and again");
  app.add_option("--cut-every", overload.cut_every, "seconds between two cuts then")->capture_default_str();
  app.add_option("--busy", overload.max_busy, "ms that the I/O thread may then work without a look at its sockets")
      ->capture_default_str();
  app.add_option("--success", overload.min_success, "percent of the operations that have to end without an error then")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (in_flight->count() > 0) {
    if (seconds->count() > 0) overload.seconds = options.seconds;
    return zklock::test::run_overload(overload) ? 0 : 1;
  }
  std::printf("%d s, seed %llu\n", options.seconds, static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  try {
    return zklock::test::Soak{options}.run() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "soak: %s\n", error.what());
    return 1;
  }
}
