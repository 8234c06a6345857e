// The log, with real servers and without.
#include "support/log.hpp"

#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/ports.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <condition_variable>
#include <mutex>
#include <regex>

using namespace zklock;
using namespace zklock::test;

namespace {

/// A sink that does not return before release() is called.
class StuckSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  [[nodiscard]] bool is_stuck() const { return stuck_; }
  void release() {
    const std::lock_guard lock{mutex_of_all_};
    free_ = true;
    changed_.notify_all();
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string_view text{message.payload.data(), message.payload.size()};
    if (text.find("zookeeper: ") == std::string_view::npos) return;
    std::unique_lock lock{mutex_of_all_};
    stuck_ = true;
    changed_.wait_for(lock, 120s, [this] { return free_; });
  }
  void flush_() override {}

  std::mutex mutex_of_all_;
  std::condition_variable changed_;
  std::atomic<bool> stuck_{false};
  bool free_ = false;
};

}  // namespace

TEST_CASE("a stuck log sink blocks its own client and no other", "[faults]") {
  const RefusingPort nobody;
  const Client other = make_client(shared_server());
  const Session session = connected_session(other);
  const auto sink = std::make_shared<StuckSink>();
  const Client client{{.connect_string = nobody.address(), .logger = std::make_shared<spdlog::logger>("stuck", sink)}};
  REQUIRE(eventually([&] { return sink->is_stuck(); }));
  Pending<> synced;
  session.async_sync("/", synced.handler());
  CHECK_FALSE(std::get<0>(synced.get()));
  sink->release();
}

TEST_CASE("while no server can be reached the C client logs few lines, without times of their own", "[faults]") {
  const Log log{LogLevel::info};
  SlammingPort port;
  const Client client{{.connect_string = port.address(), .session_timeout = 500ms, .logger = log.logger()}};
  const auto begin = Clock::now();
  REQUIRE(eventually([&] { return port.connections() >= 40; }, 60s));
  const auto tens_of_seconds = static_cast<std::size_t>((Clock::now() - begin) / 10s);
  INFO(log.text());
  const auto lines = log.with({"zookeeper: "});
  CHECK_FALSE(lines.empty());
  CHECK(lines.size() <= 5 + tens_of_seconds);
  for (const LogLine& line : lines) {
    CHECK_FALSE(std::regex_search(line.text, std::regex{"[0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}"}));
    CHECK(line.has(" zookeeper: ZOO_"));
  }
}

TEST_CASE("a holder that loses a lock which it has by a std::lock_guard finds a warning in the log", "[faults]") {
  const Log log{LogLevel::info};
  testing::TestServer& server = shared_server();
  const Client client{
      {.connect_string = server.connect_string(), .session_timeout = session_timeout, .logger = log.logger()}};
  const Session session = connected_session(client);
  const std::string path = fresh_path();
  InterProcessMutex mutex{client, path};
  {
    const std::lock_guard guard{mutex};
    const std::string token = std::to_string(mutex.fencing_token());
    const SessionCredentials credentials = session.credentials();
    server.end_session(credentials.id, {credentials.password.data(), credentials.password.size()});
    REQUIRE(eventually([&] { return log.count("event=lost") == 1; }));
    const LogLine line = log.with({"event=lost"})[0];
    CAPTURE(line.text);
    CHECK(line.level == LogLevel::warning);
    CHECK(line.has("path=\"" + path + "\" lock=mutex"));
    CHECK(line.has(" token=" + token + " "));
    CHECK(line.has(" cause=session_expired"));
    CHECK(log.with({"the servers have ended the session", "before they may"}).size() == 1);
  }
  CHECK(log.count("event=") == 1);
}
