// SharedCount and SharedValue with Curator's, and with Kazoo's Counter, on one path.
#include "crowd.hpp"
#include "peer.hpp"
#include "support/catch.hpp"

#include <string>

using namespace zklock;
using namespace zklock::test;

namespace {

const std::string path = "/limits/rate";

}  // namespace

TEST_CASE("zklock, Curator and Kazoo count together by one node") {
  testing::TestServer server;
  Curator curator{server};
  Kazoo kazoo{server};
  const Client client = make_client(server);
  const SharedCount count{client, path, 0};
  CHECK(count.get().value == 0);
  const auto log = server.directory() / "log";
  curator.begin("add " + path + " 1 40 " + log.string());
  kazoo.begin("add_often " + path + " 100 40 " + log.string());
  add(client, path, 10'000, 40, log);
  CHECK(curator.outcome() == "yes");
  CHECK(kazoo.outcome() == "yes");
  CHECK(count.get().value == 40 * 10'101);
  CHECK(kazoo("add " + path + " 0") == "404040");
}

TEST_CASE("a count that Curator or Kazoo has created is zklock's, and the other way round") {
  testing::TestServer server;
  Curator curator{server};
  Kazoo kazoo{server};
  const Client client = make_client(server);
  CHECK(curator("add /counts/curator -3 1 /dev/null") == "yes");
  CHECK(SharedCount{client, "/counts/curator", 7}.get().value == -3);
  CHECK(kazoo("add /counts/kazoo -5") == "-5");
  CHECK(SharedCount{client, "/counts/kazoo", 7}.get().value == -5);
  SharedCount{client, "/counts/ours", 0}.set(INT32_MIN);
  CHECK(curator("followed_count /counts/ours") == "-2147483648");
  SharedCount{client, "/counts/ours", 0}.set(65);
  CHECK(eventually([&] { return curator("followed_count /counts/ours") == "65"; }));
  CHECK(kazoo("add /counts/ours 1") == "66");
  CHECK(eventually([&] { return curator("followed_count /counts/ours") == "66"; }));
}

TEST_CASE("a shared value is the bytes that Curator writes and reads") {
  testing::TestServer server;
  Curator curator{server};
  const Client client = make_client(server);
  const SharedValue value{client, "/values/greeting", "hello"};
  CHECK(value.get().value == "hello");
  CHECK(curator("value /values/greeting") == "hello");
  value.set("good-bye");
  CHECK(curator("value /values/greeting") == "good-bye");
  CHECK(curator("value /values/empty").empty());
  CHECK(SharedValue{client, "/values/empty", "seed"}.get().value.empty());
}
