#include "worker.hpp"

#include "changes.hpp"
#include "follower.hpp"
#include "soak/growth.hpp"
#include "user.hpp"
#include "watchdog.hpp"

#include <zklock/audit/audit_log.hpp>
#include <zklock/metrics/metrics.hpp>
#include <zklock/retry_policy.hpp>

#include <clocale>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zklock::chaos {
namespace {

using namespace std::chrono_literals;

/// One process in four has no observers: where there are none, a client may grant a kept lock in the caller's thread.
bool has_observers(const WorkerOptions& options) { return options.process % 4 != 1; }

ClientConfig config_of(const WorkerOptions& options, std::shared_ptr<metrics::Metrics> metrics) {
  ClientConfig config{.connect_string = options.connect_string,
                      .session_timeout = options.session_timeout,
                      .connection_timeout = 20s,
                      .retry = ExponentialBackoffRetry{.base = 20ms, .max_retries = 10},
                      .client_id = "worker-" + std::to_string(options.process)};
  if (has_observers(options))
    config.observers = {std::make_shared<AuditLog>(AuditOptions{.file = options.log.string() + ".audit"}),
                        std::move(metrics)};
  return config;
}

/// How many grants have ended, by the metrics.
std::int64_t count_ends(const metrics::Metrics& metrics) {
  constexpr std::string_view name = "zklock_hold_seconds_count{";
  std::int64_t sum = 0;
  std::istringstream text{metrics.text()};
  for (std::string line; std::getline(text, line);)
    if (line.starts_with(name)) sum += std::stoll(line.substr(line.rfind(' ')));
  return sum;
}

/// The properties of its host that a library must not change.
std::string describe_host() {
  sigset_t blocked;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  struct sigaction pipe {};
  ::sigaction(SIGPIPE, nullptr, &pipe);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  std::string text = std::filesystem::current_path().string() + " " + std::setlocale(LC_ALL, nullptr) + " " +
                     std::to_string(mask) + (pipe.sa_handler == SIG_DFL ? " default" : " changed");
  for (int number = 1; number < NSIG; ++number) text += ::sigismember(&blocked, number) == 1 ? '1' : '0';
  return text;
}

struct Resources {
  decltype(test::open_descriptors()) descriptors = test::open_descriptors();
  decltype(test::running_threads()) threads = test::running_threads();
  bool operator<=(const Resources& other) const { return descriptors <= other.descriptors && threads <= other.threads; }
};

class Worker {
 public:
  explicit Worker(const WorkerOptions& options) : options_{options} {}

  int run() {
    if (!has_observers(options_)) note("no_audit_log", 1);
    static_cast<void>(client_.wait_connected(30s));
    StateSubscription states = client_.subscribe([this](ConnectionState) { publish_session(); });
    for (int i = 0; i < options_.users; ++i)
      users_.push_back(std::make_unique<User>(workplace_, options_.seed + static_cast<std::uint64_t>(i)));
    const Resources before = measure();
    std::cout << "working" << std::endl;
    {
      const Watchdog watchdog{client_, log_, options_.process};
      Follower follower{client_, follow_log_, {options_.process, options_.slot, options_.seed}};
      {
        const Changes changes{client_, follow_log_, {options_.process, options_.seed}};
        for (const auto& user : users_) threads_.emplace_back([&] { user->run(); });
        wait_for("rest");
        workplace_.closing_time = true;
        for (std::thread& each : threads_) each.join();
      }
      std::ofstream{options_.log.string() + ".rested"};
      wait_for("drain");
      follower.end();
      // Releases in the background have to end, too, before anything is counted.
      static_cast<void>(client_.wait_connected(30s));
    }
    static_cast<void>(test::eventually([&] { return Resources{} <= before; }, 10s));
    measure();
    note("ends_by_metrics", count_ends(*metrics_));
    log_.write({.event = Event::drained, .process = options_.process});
    std::ofstream{options_.log.string() + ".drained"};
    wait_for("quit");
    client_.close();
    return 0;
  }

 private:
  static void wait_for(const std::string& word) {
    for (std::string line; std::getline(std::cin, line) && line != word;) {
    }
  }

  /// A process that wants to end this client's session finds it there.
  void publish_session() const {
    const SessionCredentials session = client_.session().credentials();
    std::ofstream{options_.log.string() + ".next"} << session.id << '\n'
                                                   << std::string{session.password.data(), session.password.size()};
    std::filesystem::rename(options_.log.string() + ".next", options_.log.string() + ".session");
  }

  /// Measures while the client is connected: otherwise its socket would be missing.
  Resources measure() const {
    Resources now;
    for (int tries = 0; tries < 10 && client_.wait_connected(30s); ++tries) {
      now = Resources{};
      if (client_.wait_connected(0ms)) break;
    }
    note("descriptors", now.descriptors);
    note("threads", now.threads);
    note("kilobytes", test::resident_bytes() / 1'024);
    note("changes_of_the_host", describe_host() == host_ ? 0 : 1);
    return now;
  }
  void note(const char* what, std::int64_t number) const {
    log_.write({.event = Event::measured, .process = options_.process, .number = number, .reason = what});
  }

  WorkerOptions options_;
  std::string host_ = describe_host();
  Log log_{options_.log};
  Log follow_log_{options_.log.string() + ".follow"};
  std::shared_ptr<metrics::Metrics> metrics_ = std::make_shared<metrics::Metrics>();
  Client client_{config_of(options_, metrics_)};
  Workplace workplace_{
      client_, log_, options_.process, options_.register_port, options_.session_timeout, options_.long_stays};
  std::vector<std::unique_ptr<User>> users_{};
  std::vector<std::thread> threads_{};
};

}  // namespace

int work(const WorkerOptions& options) {
  std::signal(SIGPIPE, SIG_DFL);  // as in most programs: the library has to do without signals
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return Worker{options}.run();
}

}  // namespace zklock::chaos
