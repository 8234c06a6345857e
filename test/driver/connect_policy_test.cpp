// Where a client connects, how soon, and how long it waits for a server.
#include "connect_policy.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

using namespace zklock;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> some_servers(std::size_t count) {
  std::vector<std::string> servers;
  for (std::size_t i = 0; i < count; ++i) servers.push_back("10.0.0." + std::to_string(i + 1) + ":2181");
  return servers;
}

/// What the C client does with its list: addrvec_shuffle, and then every second address.
std::vector<std::string> tried_by(std::vector<std::string> list, std::mt19937& random, std::size_t attempts) {
  std::shuffle(list.begin(), list.end(), random);
  std::vector<std::string> tried;
  for (std::size_t i = 0; i < attempts; ++i) tried.push_back(list[2 * i % list.size()]);
  return tried;
}

/// Whether a value is within a share of the expected one.
bool is_near(double value, double expected, double share) { return std::abs(value - expected) <= expected * share; }

std::uint64_t no_luck() { return 0; }

}  // namespace

TEST_CASE("a list of servers has an odd number of addresses, and no server is missing") {
  for (std::size_t count = 1; count <= 64; ++count) {
    std::mt19937 random{static_cast<unsigned>(count)};
    const auto servers = some_servers(count);
    const auto list = odd_list(servers, random());
    CHECK(list.size() == (count | 1));
    auto tried = tried_by(list, random, list.size());
    std::sort(tried.begin(), tried.end());
    tried.erase(std::unique(tried.begin(), tried.end()), tried.end());
    CHECK(tried.size() == count);
  }
}

TEST_CASE("each server is the first choice of equally many clients, and equally often the next one") {
  constexpr int clients = 60'000;
  for (const std::size_t count : {1U, 2U, 3U, 4U, 5U, 6U, 8U}) {
    std::mt19937 random{42};
    std::map<std::string, int> first;
    std::map<std::string, int> successors;  // of the clients whose first server was 10.0.0.1
    for (int i = 0; i < clients; ++i) {
      const auto tried = tried_by(odd_list(some_servers(count), random()), random, 2 * count + 1);
      ++first[tried[0]];
      const auto next = std::find_if(tried.begin(), tried.end(), [&](const auto& one) { return one != tried[0]; });
      if (tried[0] == "10.0.0.1:2181" && next != tried.end()) ++successors[*next];
    }
    const double share = static_cast<double>(clients) / static_cast<double>(count);
    CAPTURE(count);
    CHECK(first.size() == count);
    for (const auto& [server, number] : first) CHECK(is_near(number, share, 0.05));
    CHECK(successors.size() == count - 1);
    for (const auto& [server, number] : successors) CHECK(is_near(number, share / static_cast<double>(count - 1), 0.1));
  }
}

TEST_CASE("the first attempt after a lost connection waits a random time, and later attempts wait longer") {
  struct Case {
    int failures;
    Clock::duration jitter;
    Clock::duration session_timeout;
    Clock::duration least;
    Clock::duration most;
  };
  const Case cases[] = {
      {1, 20ms, 30s, 1ms, 20ms},   {1, 0ms, 30s, 1ms, 1ms},        {1, 1s, 30s, 1ms, 1s},
      {1, 1min, 30s, 1ms, 7500ms}, {1, 20ms, 3ms, 1ms, 1ms},       {2, 20ms, 30s, 10ms, 20ms},
      {2, 1s, 30s, 10ms, 20ms},    {3, 20ms, 30s, 20ms, 40ms},     {4, 20ms, 30s, 40ms, 80ms},
      {11, 20ms, 30s, 1500ms, 3s}, {1'000, 20ms, 30s, 1500ms, 3s}, {1'000, 20ms, 100ms, 10ms, 20ms},
  };
  std::mt19937_64 random{7};
  for (const Case& each : cases) {
    CAPTURE(each.failures, each.jitter.count(), each.session_timeout.count());
    std::vector<Clock::duration> waits;
    for (int i = 0; i < 1'000; ++i)
      waits.push_back(wait_to_connect(each.failures, each.jitter, each.session_timeout, random()));
    const auto [least, most] = std::minmax_element(waits.begin(), waits.end());
    CHECK(*least >= each.least);
    CHECK(*most <= each.most);
    const auto width = each.most - each.least;
    CHECK(*most - *least >= width * 9 / 10);
    const auto sum = std::accumulate(waits.begin(), waits.end(), Clock::duration{0});
    CHECK(
        is_near(static_cast<double>(sum.count()) / 1'000, static_cast<double>((each.least + width / 2).count()), 0.1));
  }
}

TEST_CASE("the time limit of a server doubles after each round in which all servers were too slow") {
  HandshakeLimit handshake;
  constexpr auto timeout = 6s;
  constexpr auto overdue = HandshakeLimit::Failure::overdue;
  constexpr auto refused = HandshakeLimit::Failure::other;
  const auto round = [&](std::vector<HandshakeLimit::Failure> failures) {
    for (const auto failure : failures) handshake.on_failure(failure, 5);
    return handshake.limit(timeout, 5);
  };
  CHECK(handshake.limit(timeout, 5) == 600ms);
  CHECK(handshake.limit(timeout, 1) == 3s);
  CHECK(handshake.limit(timeout, 0) == 3s);
  CHECK(round({overdue, overdue, overdue, overdue}) == 600ms);  // one server has not been asked yet
  CHECK(round({overdue}) == 1'200ms);
  CHECK(round({refused, refused, refused, refused, refused}) == 1'200ms);  // more time would not help
  CHECK(round({refused, overdue, refused, refused, refused}) == 2'400ms);
  CHECK(round(std::vector<HandshakeLimit::Failure>(5, overdue)) == 4s);  // where the C client gives up
  CHECK(round(std::vector<HandshakeLimit::Failure>(500, overdue)) == 4s);
  handshake.on_answer();
  CHECK(handshake.limit(timeout, 5) == 600ms);
}

TEST_CASE("attempts to connect pause after each failure, and not so long when the driver closes") {
  constexpr auto timeout = 60s;
  constexpr auto other = ConnectAttempts::Failure::other;
  const Clock::time_point now = Clock::now();
  ConnectAttempts attempts{0ms, nullptr, timeout, now, &no_luck};
  const auto pause = [&] { return attempts.not_before() - now; };
  CHECK_FALSE(attempts.is_under_way());
  CHECK(pause() < 0s);
  attempts.begin(now);
  CHECK(attempts.is_under_way());
  CHECK(attempts.overdue_at(timeout, 1) == now + 30s);
  CHECK(attempts.overdue_at(timeout, 3) == now + 10s);
  attempts.end();
  CHECK(attempts.since() == ConnectAttempts::never);
  for (int i = 0; i < 30; ++i) attempts.on_failure(other, 1, timeout, now, 0);
  CHECK(pause() == 3s);  // half of a tenth of the timeout
  SECTION("an answer begins anew") {
    attempts.on_answer();
    CHECK(pause() < 0s);
    attempts.on_failure(other, 1, timeout, now, 0);
    CHECK(pause() == 1ms);
  }
  SECTION("closing begins anew, with five seconds for all of it") {
    attempts.hurry(now);
    CHECK(pause() == 0s);
    attempts.begin(now);
    CHECK(attempts.overdue_at(timeout, 1) == now + 2500ms);
    for (int i = 0; i < 30; ++i) attempts.on_failure(other, 1, timeout, now, 0);
    CHECK(pause() == 250ms);
  }
}

TEST_CASE("sessions of which none has had an answer pause longer and longer, and one answer ends that") {
  constexpr auto timeout = 60s;
  const Clock::time_point now = Clock::now();
  const auto history = std::make_shared<ConnectHistory>();
  const auto pause_of_next = [&](bool has_answers) {
    ConnectAttempts attempts{0ms, history, timeout, now, &no_luck};
    const auto pause = attempts.not_before() - now;
    if (has_answers) attempts.on_answer();
    attempts.on_session_over();
    return pause;
  };
  CHECK(pause_of_next(false) < 0s);
  CHECK(pause_of_next(false) < 0s);
  CHECK(pause_of_next(false) == 1ms);
  CHECK(pause_of_next(false) == 10ms);
  CHECK(pause_of_next(false) == 20ms);
  for (int i = 0; i < 20; ++i) static_cast<void>(pause_of_next(false));
  CHECK(pause_of_next(true) == 3s);
  CHECK(pause_of_next(true) < 0s);
}

TEST_CASE("a session that is being closed leaves the pauses of the next one alone") {
  constexpr auto timeout = 60s;
  const Clock::time_point now = Clock::now();
  const auto history = std::make_shared<ConnectHistory>();
  ConnectAttempts attempts{0ms, history, timeout, now, &no_luck};
  attempts.part();
  for (int i = 0; i < 30; ++i) attempts.on_failure(ConnectAttempts::Failure::other, 1, timeout, now, 0);
  CHECK(history->failures == 0);
}
