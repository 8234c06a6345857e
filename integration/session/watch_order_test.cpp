// What a watch on a lock's directory rests on: a server sends its event ahead of each reply that shows a later state.
#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <zklock/testing/test_ensemble.hpp>
#include <zklock/transaction.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <cstdlib>

using namespace zklock;
using namespace zklock::test;

namespace {

/// Watches "/d", and reads and writes as fast as it can until the event comes.
class Observer {
 public:
  explicit Observer(const Client& client) : session_{connected_session(client)} {}

  void begin() {
    latest_ = 0;
    replies_ = 0;
    has_fired_ = false;
    // A follower may not have the directory yet that the operator has made.
    REQUIRE_FALSE(
        std::get<0>(outcome_of_operation<>([&](auto token) { session_.async_sync("/d", std::move(token)); })));
    auto [error, read, watch] = outcome_of_operation<DataResult, Watch>(
        [&](auto token) { session_.async_get_data_and_watch("/d", std::move(token)); });
    REQUIRE_FALSE(error);
    watch_ = std::move(watch);
    asio::post(session_.get_executor(), [this] {
      for (int i = 0; i < 8; ++i) read_and_write();
    });
    REQUIRE(eventually([&] { return replies_ > 16; }));
  }
  /// The latest state that replies have shown before the event came.
  std::int64_t end() {
    REQUIRE(eventually([&] { return has_fired_ && in_flight_ == 0; }));
    return latest_;
  }

 private:
  void read_and_write() {
    if (!watch_.is_set()) return;
    in_flight_ += 2;
    session_.async_exists(
        "/d", asio::bind_executor(session_.get_executor(),
                                  [this](error_code, std::optional<Stat> stat) { note(stat ? stat->czxid : 0); }));
    session_.async_create("/n-", "", CreateMode::ephemeral_sequential,
                          asio::bind_executor(session_.get_executor(), [this](error_code, const CreateResult& made) {
                            session_.async_remove(made.path,
                                                  asio::bind_executor(session_.get_executor(), [](error_code) {}));
                            note(made.stat.czxid);
                            read_and_write();
                          }));
  }
  void note(std::int64_t zxid) {
    --in_flight_;
    ++replies_;
    if (watch_.is_set())
      latest_ = std::max(latest_.load(), zxid);
    else
      has_fired_ = true;
  }

  Session session_;
  Watch watch_;
  std::atomic<std::int64_t> latest_{0};
  std::atomic<int> replies_{0};
  std::atomic<int> in_flight_{0};
  std::atomic<bool> has_fired_{false};
};

/// A server that is slow for seconds does not cost the link.
constexpr std::chrono::seconds timeout{10};

/// ZKLOCK_WATCH_ROUNDS makes it longer.
int rounds() {
  const char* number = std::getenv("ZKLOCK_WATCH_ROUNDS");
  return number ? std::atoi(number) : 60;
}

void check(const Client& observing, const Client& operating) {
  const Session session = connected_session(operating);
  const auto commit = [&](const Transaction& transaction) {
    return outcome_of_operation<TransactionResults>(
        [&](auto token) { session.async_commit(transaction, std::move(token)); });
  };
  REQUIRE_FALSE(std::get<0>(commit(Transaction{}.create("/d", ""))));
  Observer observer{observing};
  for (int i = 0; i < rounds(); ++i) {
    observer.begin();
    REQUIRE_FALSE(std::get<0>(commit(Transaction{}.remove("/d").create("/d", ""))));
    const auto [error, made_anew] =
        outcome_of_operation<std::optional<Stat>>([&](auto token) { session.async_exists("/d", std::move(token)); });
    REQUIRE((!error && made_anew));
    CHECK(observer.end() < made_anew->czxid);
  }
}

}  // namespace

TEST_CASE("the event of a watched directory comes ahead of each reply that shows a later state") {
  testing::TestServerOptions options;
  if (const char* netty = std::getenv("ZKLOCK_WATCH_NETTY"); netty)
    options.jvm_options = {"-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory"};
  const testing::TestServer server{options};
  check(make_client(server, timeout), make_client(server, timeout));
}

TEST_CASE("the event of a watched directory comes ahead of each such reply at a follower and at the leader") {
  testing::TestEnsembleOptions options;
  if (const char* netty = std::getenv("ZKLOCK_WATCH_NETTY"); netty)
    options.server.jvm_options = {"-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory"};
  const testing::TestEnsemble ensemble{options};
  const std::size_t leader = ensemble.leader();
  const std::size_t follower = ensemble.follower();
  SECTION("follower, and the operator at the leader") {
    check(make_client(ensemble.server(follower), timeout), make_client(ensemble.server(leader), timeout));
  }
  SECTION("leader, and the operator at a follower") {
    check(make_client(ensemble.server(leader), timeout), make_client(ensemble.server(follower), timeout));
  }
}
