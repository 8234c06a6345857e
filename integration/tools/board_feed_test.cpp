// The board of all locks, fed from a real server.
#include "board/board_feed.hpp"

#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/operations.hpp"

#include <zklock/recipes/locks/inter_process_semaphore.hpp>

#include <boost/asio/io_context.hpp>

#include <iostream>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::test;
using namespace zklock::tools;

namespace {

/// A feed on a thread of its own: the test's.
class Watcher {
 public:
  Watcher(const testing::TestServer& server, const std::string& base, Budget budget = {})
      : client_{context_.get_executor(),
                {.connect_string = server.connect_string(), .session_timeout = long_session_timeout}},
        feed_{std::make_shared<BoardFeed>(context_.get_executor(), client_, std::vector{base}, budget)} {
    feed_->set_viewed(true);
    feed_->start();
  }
  ~Watcher() {
    feed_->stop();
    bool closed = false;
    client_.async_close([&](error_code) { closed = true; });
    static_cast<void>(until([&] { return closed; }));
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  template <class Condition>
  [[nodiscard]] bool until(Condition condition, std::chrono::milliseconds limit = 30s) {
    return eventually(
        [&] {
          context_.run_for(5ms);
          return condition();
        },
        limit);
  }
  void run(std::chrono::milliseconds time) { context_.run_for(time); }
  [[nodiscard]] BoardFeed& feed() { return *feed_; }
  /// "kind holders waiting holder"
  [[nodiscard]] std::string brief(const std::string& lock) const {
    const BoardLock* row = feed_->board().find(lock);
    if (row == nullptr) return "none";
    return row->kind + " " + std::to_string(row->holders) + " " + std::to_string(row->waiting) + " " +
           row->holder.client_id;
  }

 private:
  asio::io_context context_{1};
  Client client_;
  std::shared_ptr<BoardFeed> feed_;
};

struct Fixture {
  testing::TestServer server{{.tick = long_tick}};
  Client client = make_client(server, long_session_timeout);
  Session session = connected_session(client);
  std::string base = fresh_path();

  void lose_server(Watcher& watcher) {
    server.kill();
    REQUIRE(watcher.until([&] { return !watcher.feed().status().connected; }));
  }
  /// Also waits for the test's own client: its attempt to connect lasts half a session timeout if the starting server
  /// does not answer it.
  void start_server(Watcher& watcher) {
    server.start();
    REQUIRE(watcher.until([&] { return watcher.feed().status().connected; }, long_session_timeout));
    REQUIRE(client.wait_connected(long_session_timeout));
  }
  /// So many locks, each held by a node of this session.
  void make_locks(int number) {
    constexpr int batch = 200;
    REQUIRE_FALSE(create(client, base, {}, CreateOptions{}.creating_parents()));
    for (int first = 0; first < number; first += batch) {
      Transaction transaction;
      for (int i = first; i < std::min(first + batch, number); ++i) {
        const std::string path = base + "/lock-of-" + std::to_string(i) + "-x";
        transaction.create(path, "", CreateMode::persistent);
        transaction.create(path + "/lock-", "holder:1", CreateMode::ephemeral_sequential);
      }
      const auto [error, results] = outcome_of_operation<TransactionResults>(
          [&](auto token) { session.async_commit(std::move(transaction), std::move(token)); });
      REQUIRE_FALSE(error);
    }
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the board follows a lock from hand to hand, by a watch once it is looked at") {
  const InterProcessMutex mutex{client, base + "/a"};
  Watcher watcher{server, base};
  Lease first = acquire(mutex);
  REQUIRE(watcher.until([&] { return watcher.brief(base + "/a") == "mutex 1 0 " + client.client_id(); }));
  watcher.feed().look_at({base + "/a"}, {base + "/a"});
  Pending<Lease> next;
  const Client other{
      {.connect_string = server.connect_string(), .session_timeout = session_timeout, .client_id = "other"}};
  REQUIRE(watcher.until([&] { return watcher.feed().is_watched(base + "/a"); }));
  InterProcessMutex{other, base + "/a"}.async_acquire(next.handler());
  CHECK(watcher.until([&] { return watcher.brief(base + "/a") == "mutex 1 1 " + client.client_id(); }));
  first = {};
  CHECK(watcher.until([&] { return watcher.brief(base + "/a") == "mutex 1 0 other"; }));
  CHECK(watcher.feed().board().history(base + "/a").size() >= 3);
}

TEST_CASE_METHOD(Fixture, "the board shows a semaphore as one lock, and a holder whose session ends is gone") {
  InterProcessSemaphore licences{client, base + "/licences", 2};
  const auto permits = licences.acquire_many(2);
  Pending<Lease> third;
  licences.async_acquire(third.handler());
  Watcher watcher{server, base};
  REQUIRE(watcher.until([&] { return watcher.brief(base + "/licences") == "semaphore 2 1 " + client.client_id(); }));
  const Client other{
      {.connect_string = server.connect_string(), .session_timeout = session_timeout, .client_id = "other"}};
  const InterProcessMutex mutex{other, base + "/m"};
  const Lease lease = acquire(mutex);
  REQUIRE(watcher.until([&] { return watcher.brief(base + "/m") == "mutex 1 0 other"; }));
  const SessionCredentials ended = connected_session(other).credentials();
  server.end_session(ended.id, std::string_view{ended.password.data(), ended.password.size()});
  CHECK(watcher.until([&] { return watcher.brief(base + "/m") != "mutex 1 0 other"; }));
}

TEST_CASE_METHOD(
    Fixture, "five thousand locks cost the server no more than the budget says, and all watches survive a restart") {
  constexpr int locks = 5'000;
  constexpr int rate = 500;
  make_locks(locks);
  Watcher watcher{server, base};
  REQUIRE(watcher.until([&] { return watcher.feed().status().connected; }));
  const auto measure = [&](const char* what) {
    const auto began = std::chrono::steady_clock::now();
    const auto before = server.monitor("zk_packets_received");
    watcher.run(5s);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    const double per_second = static_cast<double>(server.monitor("zk_packets_received") - before) / took.count();
    std::cout << what << ": " << per_second << " packets/s, " << server.monitor("zk_watch_count") << " watches, "
              << watcher.feed().board().locks().size() << " locks on the board\n";
    return per_second;
  };
  constexpr double others = 30;  // heartbeats, and this test's own client
  CHECK(measure("first sweep") <= rate + 64.0 / 5 + others);
  CHECK(server.monitor("zk_watch_count") <= 1);
  REQUIRE(watcher.until([&] { return watcher.feed().board().locks().size() == locks; }, 300s));

  std::vector<std::string> all;
  for (const auto& [path, lock] : watcher.feed().board().locks()) all.push_back(path);
  watcher.feed().look_at(all, {});
  CHECK(measure("all of them looked at") <= rate + 64.0 / 5 + others);
  REQUIRE(watcher.until([&] { return watcher.feed().status().watches == 2'000; }));
  CHECK(server.monitor("zk_watch_count") == 2'000);

  lose_server(watcher);
  start_server(watcher);
  CHECK(watcher.until([&] { return server.monitor("zk_watch_count") == 2'000; }));
  const std::string held = watcher.brief(all.front());
  REQUIRE_FALSE(remove(client, all.front() + "/lock-0000000000"));
  CHECK(watcher.until([&] { return watcher.brief(all.front()) != held; }));

  watcher.feed().look_at({}, {});
  watcher.feed().set_viewed(false);
  CHECK(watcher.until([&] { return server.monitor("zk_watch_count") == 1; }));
  CHECK(measure("no viewer") <= 50 + 64.0 / 5 + others);
}

TEST_CASE_METHOD(Fixture, "while the server is away the board keeps what it has seen, and goes on afterwards") {
  const InterProcessMutex mutex{client, base + "/a"};
  Lease lease = acquire(mutex);
  Watcher watcher{server, base};
  REQUIRE(watcher.until([&] { return watcher.brief(base + "/a") == "mutex 1 0 " + client.client_id(); }));
  lose_server(watcher);
  CHECK(watcher.brief(base + "/a") == "mutex 1 0 " + client.client_id());
  start_server(watcher);
  const InterProcessMutex another{client, base + "/b"};
  const Lease later = acquire(another);
  CHECK(watcher.until([&] { return watcher.brief(base + "/b") == "mutex 1 0 " + client.client_id(); }));
}

TEST_CASE_METHOD(Fixture, "a base that does not exist is reported, not created, awaited by a watch, and found") {
  Watcher watcher{server, base};
  const auto is_missing = [&] { return watcher.feed().status().missing.contains(base) && watcher.feed().is_settled(); };
  REQUIRE(watcher.until(is_missing));
  CHECK_FALSE(exists(session, base));
  const auto reads = watcher.feed().status().reads;
  watcher.run(3s);
  CHECK(watcher.feed().status().reads == reads);
  CHECK(server.monitor("zk_watch_count") == 1);
  {
    const InterProcessMutex mutex{client, base + "/a"};
    const Lease lease = acquire(mutex);
    CHECK(watcher.until([&] { return watcher.brief(base + "/a") == "mutex 1 0 " + client.client_id(); }));
    CHECK(watcher.feed().status().missing.empty());
  }
  // It goes, the link is lost meanwhile, and it comes again.
  REQUIRE(watcher.until([&] { return !exists(session, base + "/a"); }));  // a container
  static_cast<void>(remove(client, base));
  REQUIRE(watcher.until(is_missing));
  lose_server(watcher);
  start_server(watcher);
  const InterProcessMutex mutex{client, base + "/b"};
  const Lease lease = acquire(mutex);
  CHECK(watcher.until([&] { return watcher.brief(base + "/b") == "mutex 1 0 " + client.client_id(); }));
}
