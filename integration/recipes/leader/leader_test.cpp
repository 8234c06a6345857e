// LeaderLatch and LeaderSelector against a healthy server.
#include "support/catch.hpp"
#include "support/leader_fixture.hpp"

#include <zklock/recipes/leader/lead_while.hpp>
#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LeaderFixture {
  LeaderLatch latch{client, path, "a"};
  LeaderLatch same{other, path, "b"};
};

}  // namespace

TEST_CASE_METHOD(Fixture, "candidates lead in the order in which they came, with growing tokens") {
  Leadership leader = lead(latch);
  CHECK(leader.is_held());
  std::vector<Pending<Leadership>> waiting(5);
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    (i % 2 == 0 ? same : latch).async_lead(waiting[i].handler());
    REQUIRE(eventually([&] { return queue_length() == i + 2; }));
  }
  CHECK(try_lead(same) == Error::timed_out);
  std::int64_t token = leader.fencing_token();
  for (auto& each : waiting) {
    CHECK_FALSE(each.ready());
    CHECK_FALSE(resign(leader));
    auto [error, next] = each.get();
    REQUIRE_FALSE(error);
    CHECK(next.fencing_token() > token);
    token = next.fencing_token();
    leader = std::move(next);
  }
  leader = {};
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "a candidate in the middle that gives up promotes nobody") {
  Leadership leader = lead(latch);
  asio::cancellation_signal signal;
  Pending<Leadership> second;
  same.async_lead(asio::bind_cancellation_slot(signal.slot(), second.handler()));
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  Client third_client = make_client(server);
  const LeaderLatch third{third_client, path, "c"};
  Pending<Leadership> last;
  third.async_lead(last.handler());
  REQUIRE(eventually([&] { return queue_length() == 3; }));
  asio::post(other.get_executor(), [&] { signal.emit(asio::cancellation_type::total); });
  CHECK(std::get<0>(second.get()) == asio::error::operation_aborted);
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  CHECK_FALSE(last.ready(200ms));
  CHECK(leader.is_held());
  leader = {};
  CHECK(std::get<1>(last.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "a leader's guarded write is done while it leads, and refused afterwards") {
  Leadership leader = lead(latch);
  REQUIRE_FALSE(create(client, path + "-stock", "10"));
  CHECK_FALSE(commit(client, leader.guard().set_data(path + "-stock", "9")));
  Transaction late = leader.guard();
  CHECK_FALSE(resign(leader));
  CHECK(commit(client, late.set_data(path + "-stock", "8")) == Error::no_node);
  CHECK(data_of(path + "-stock") == "9");
  CHECK(resign(leader) == LockError::not_owner);
}

TEST_CASE_METHOD(Fixture, "a latch in a namespace works there, and its directory is a container that is removed") {
  {
    const ClientHandle part = client.using_namespace("app");
    const LeaderLatch inside{part, path, "inside"};
    const Leadership leader = lead(inside);
    CHECK(exists(session, "/app" + leader.node_path()));
    CHECK(lead(latch).is_held());  // another latch
  }
  CHECK(eventually([&] { return !exists(session, path) && !exists(session, "/app" + path); }));
}

TEST_CASE_METHOD(Fixture, "the blocking calls of a latch lead and resign, and refuse to wait for themselves") {
  Leadership leader = latch.lead();
  CHECK(leader.is_held());
  CHECK_FALSE(same.lead(0ms));
  CHECK_FALSE(same.lead(100ms));
  const auto listed = same.participants();
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].id == "a");
  CHECK(listed[0].fencing_token == leader.fencing_token());
  leader.resign();
  CHECK_THROWS_AS(leader.resign(), boost::system::system_error);
  std::optional<Leadership> next = same.lead(5s);
  REQUIRE(next);
  CHECK(next->is_held());
  Pending<> refused;
  asio::post(client.get_executor(), [&, handler = refused.handler()]() mutable {
    try {
      static_cast<void>(latch.lead());
      handler(error_code{});
    } catch (const boost::system::system_error& error) {
      handler(error.code());
    }
  });
  CHECK(std::get<0>(refused.get()) == Error::blocking_in_handler);
}

TEST_CASE_METHOD(Fixture, "a latch refuses a bad path and a bad priority, and an empty leadership refuses operations") {
  for (const char* bad : {"leader", "/", "/a//b", "/zookeeper/leader"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(LeaderLatch(client, bad), boost::system::system_error);
    CHECK_THROWS_AS(LeaderSelector(client, bad), boost::system::system_error);
  }
  CHECK_THROWS_AS(LeaderLatch(client, path, {.priority = 1000}), boost::system::system_error);
  CHECK_THROWS_AS(LeaderLatch(client, path, {.priority = -1}), boost::system::system_error);
  Leadership none;
  CHECK(none.state() == LeaseState::released);
  CHECK(none.fencing_token() == 0);
  CHECK(none.node_path().empty());
  CHECK_THROWS_AS(none.resign(), boost::system::system_error);
  CHECK_THROWS_AS(none.guard(), boost::system::system_error);
  CHECK_THROWS_AS(none.async_step_back([](error_code, const Leadership&) {}), boost::system::system_error);
  const Leadership leader = lead(latch);
  CHECK(try_lead(LeaderLatch{other, path, std::string(2'000'000, 'x')}) == Error::payload_too_large);
}

TEST_CASE_METHOD(Fixture, "threads that lead in turn are never two at a time, each leads once a round") {
  constexpr int rounds = 3;
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::vector<std::atomic<int>> times(6);
  std::vector<std::thread> threads;
  for (std::size_t n = 0; n < times.size(); ++n)
    threads.emplace_back([&, n] {
      for (int round = 0; round < rounds; ++round)
        lead_while(n % 2 == 0 ? latch : same, [&](Leadership& leadership, const std::stop_token& stop) {
          if (++inside > 1 || !leadership.is_held() || stop.stop_requested()) ++overlaps;
          static_cast<void>(sync(session));
          ++times[n];
          --inside;
        });
    });
  for (std::thread& each : threads) each.join();
  CHECK(overlaps == 0);
  for (const auto& each : times) CHECK(each == rounds);
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "what a thread's body throws comes out of lead_while, when it has resigned") {
  CHECK_THROWS_AS(
      lead_while(latch, [](Leadership&, const std::stop_token&) -> int { throw std::out_of_range{"sold out"}; }),
      std::out_of_range);
  CHECK(lead_while(same, [](Leadership&, const std::stop_token&) { return 7; }) == 7);
  CHECK(nothing_left());
}

TEST_CASE_METHOD(Fixture, "100 candidates and 1000 resignations: one wake-up each, and nothing left") {
  constexpr int candidates = 100;
  constexpr int resignations = 1'000;
  std::vector<std::unique_ptr<Client>> clients;
  for (int n = 0; n < 10; ++n) clients.push_back(std::make_unique<Client>(make_client(server, 10s)));
  asio::thread_pool pool{1};
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::int64_t newest = 0;
  int resigned = 0;
  const auto stand = [&](const LeaderLatch& own) -> asio::awaitable<void> {
    while (resigned < resignations) {
      Leadership leadership = co_await own.async_lead(asio::use_awaitable);
      if (++inside > 1 || leadership.fencing_token() <= newest) ++overlaps;
      newest = leadership.fencing_token();
      --inside;
      ++resigned;
      co_await leadership.async_resign(asio::use_awaitable);
    }
  };
  std::vector<std::future<void>> all;
  for (int n = 0; n < candidates; ++n) {
    const auto one = [&stand, own = LeaderLatch{*clients[static_cast<std::size_t>(n) % 10], path,
                                                "x"}]() -> asio::awaitable<void> { co_await stand(own); };
    auto kept = std::make_shared<decltype(one)>(one);
    all.push_back(asio::co_spawn(
        pool, [kept]() { return (*kept)(); }, asio::use_future));
  }
  for (auto& each : all) each.get();
  CHECK(overlaps == 0);
  CHECK(resigned >= resignations);
  CHECK(resigned < resignations + candidates);
  CHECK(nothing_left());
  pool.join();
}

TEST_CASE_METHOD(Fixture, "one resignation wakes one candidate, which leads without asking the server before") {
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<Pending<Leadership>> waiting(8);
  Leadership leader = lead(latch);
  for (std::size_t n = 0; n < waiting.size(); ++n) {
    clients.push_back(std::make_unique<Client>(make_client(server, 10s)));
    LeaderLatch{*clients.back(), path, "x"}.async_lead(waiting[n].handler());
    REQUIRE(eventually([&] { return server.monitor("zk_watch_count") == static_cast<std::int64_t>(n) + 1; }));
  }
  CHECK_FALSE(resign(leader));
  CHECK(std::get<1>(waiting.front().get()).is_held());
  for (std::size_t n = 2; n < waiting.size(); ++n) CHECK_FALSE(waiting[n].ready());
  CHECK(server.monitor("zk_watch_count") >= static_cast<std::int64_t>(waiting.size()) - 2);
}

TEST_CASE_METHOD(Fixture, "a selector and a mutex of another client on one path exclude each other") {
  const LeaderSelector selector{client, path, "a"};
  const LeaderSelector rival{other, path, "b"};
  Leadership leader = lead(selector);
  const InterProcessMutex mutex{other, path};
  CHECK(std::get<0>(outcome_of_operation<Lease>([&](auto token) { mutex.async_acquire(0ms, std::move(token)); })) ==
        Error::timed_out);
  Pending<Leadership> second;
  rival.async_lead(second.handler());
  REQUIRE(eventually([&] { return queue_length() == 2; }));
  const auto listed = selector.participants();
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].id == "a");
  CHECK(listed[1].id == "b");
  CHECK_FALSE(resign(leader));
  CHECK(std::get<1>(second.get()).is_held());
}

TEST_CASE_METHOD(Fixture, "ten candidates list the same participants, of which the first one leads") {
  std::vector<Pending<Leadership>> standing(10);
  std::vector<LeaderSelector> selectors;
  for (std::size_t n = 0; n < standing.size(); ++n) {
    selectors.emplace_back(n % 2 == 0 ? client : other, path, std::to_string(n));
    selectors.back().async_lead(standing[n].handler());
    REQUIRE(eventually([&] { return queue_length() == n + 1; }));
  }
  const auto first = selectors.front().participants();
  REQUIRE(first.size() == standing.size());
  for (std::size_t n = 0; n < first.size(); ++n) CHECK(first[n].id == std::to_string(n));
  for (const LeaderSelector& each : selectors) CHECK(each.participants() == first);
  CHECK(std::get<1>(standing.front().get()).fencing_token() == first.front().fencing_token);
}
