// Worker ids against a real server.
#include "support/catch.hpp"
#include "support/lock_fixture.hpp"
#include "support/operations.hpp"

#include <zklock/recipes/worker_ids/worker_ids.hpp>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture : LockFixture {
  Client other = make_client(server);
  const WorkerIds ids{client, path, {.count = 1}};
  const WorkerIds same{other, path, {.count = 1}};
};

/// The first one that may be used.
WorkerId::TimeStamp time_stamp(const WorkerId& id) {
  std::optional<WorkerId::TimeStamp> stamp;
  REQUIRE(eventually([&] { return (stamp = id.try_time_stamp()).has_value(); }));
  return *stamp;
}

const std::string workers = "/workers";

/// Writes each time stamp that it uses, until the number is lost. An alarm kills a child that hangs.
[[noreturn]] void use_time_stamps(const std::string& servers, const std::filesystem::path& report) {
  try {
    ::alarm(120);
    Client client{{.connect_string = servers, .session_timeout = 2s}};
    const WorkerId id = WorkerIds{client, workers, {.count = 1}}.acquire();
    std::ofstream out{report};
    for (std::optional<WorkerId::TimeStamp> last; id.is_held();) {
      const auto stamp = id.try_time_stamp();
      if (stamp && stamp != last) out << stamp->time_since_epoch().count() << std::endl;
      last = stamp;
    }
    ::_exit(0);
  } catch (const std::exception&) {
    ::_exit(1);
  }
}

/// A child process that has the only number, and uses all time stamps.
struct Child {
  testing::TestServer server;
  const std::filesystem::path report = server.directory() / "report";
  pid_t pid = ::fork();  // before this process has a thread of zklock

  Child() {
    if (pid == 0) use_time_stamps(server.connect_string(), report);
  }
  ~Child() { end(SIGKILL); }
  Child(const Child&) = delete;

  void end(int by) {
    if (pid <= 0) return;
    ::kill(pid, by);
    ::waitpid(pid, nullptr, 0);
    pid = 0;
  }
  [[nodiscard]] std::int64_t last_used() const {
    std::ifstream in{report};
    std::int64_t last = 0;
    for (std::int64_t next = 0; in >> next;) last = std::max(last, next);
    return last;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a worker id is one process's, and the next one goes on behind its time stamps") {
  WorkerId first = ids.acquire();
  CHECK(first.number() == 0);
  const auto last = time_stamp(first);
  CHECK_FALSE(same.acquire(0ms));
  Pending<WorkerId> waiting;
  same.async_acquire(waiting.handler());
  CHECK_FALSE(waiting.ready(100ms));
  first.release();
  auto [error, second] = waiting.get();
  REQUIRE_FALSE(error);
  CHECK(time_stamp(second) > last);
  CHECK_FALSE(first.try_time_stamp());
  second.release();
  CHECK(children_of(session, path + "/ids").empty());
}

TEST_CASE_METHOD(Fixture, "a worker id whose session ends is lost, and used again only when its time stamps are past") {
  Client short_lived = make_client(server, 2s);
  const WorkerIds soon{short_lived, path, {.count = 1}};
  const WorkerId first = soon.acquire();
  const auto last = time_stamp(first);
  const auto timeout = short_lived.session().timeout();
  end(short_lived.session());
  CHECK(eventually([&] { return !first.is_held(); }));
  const WorkerId second = same.acquire();
  CHECK(time_stamp(second) >= last + timeout);  // at least that much was reserved
}

TEST_CASE_METHOD(Fixture, "many processes at once get worker ids of their own") {
  constexpr std::size_t many = 20;
  std::vector<Client> clients;
  for (std::size_t i = 0; i < many; ++i) clients.push_back(make_client(server));
  std::vector<Pending<WorkerId>> acquiring(many);
  for (std::size_t i = 0; i < many; ++i)
    WorkerIds{clients[i], path, {.count = many}}.async_acquire(acquiring[i].handler());
  std::vector<WorkerId> all;
  std::set<int> numbers;
  for (auto& each : acquiring) {
    auto [error, id] = each.get();
    REQUIRE_FALSE(error);
    numbers.insert(id.number());
    all.push_back(std::move(id));
  }
  CHECK(numbers.size() == many);
}

TEST_CASE("a worker id is held on when its server is killed and comes back", "[faults]") {
  testing::TestServer server{{.tick = long_tick}};
  const Client client = make_client(server, long_session_timeout);
  const WorkerIds ids{client, "/workers", {.count = 1}};
  WorkerId id = ids.acquire();
  const auto last = time_stamp(id);
  server.kill();
  CHECK(id.is_held());
  CHECK(time_stamp(id) >= last);
  server.start();
  id.release();
  CHECK(time_stamp(ids.acquire()) > last);
}

TEST_CASE("the worker id of a killed process is used again behind its time stamps", "[faults]") {
  Child child;
  REQUIRE(eventually([&] { return child.last_used() > 0; }));
  child.end(SIGKILL);
  const Client client = make_client(child.server);
  const WorkerId id = WorkerIds{client, workers, {.count = 1}}.acquire();
  CHECK(time_stamp(id).time_since_epoch().count() > child.last_used());
}

TEST_CASE("a process that is paused while it uses its worker id uses no time stamp of the next one",
          "[faults]") {  // W2
  Child child;
  REQUIRE(eventually([&] { return child.last_used() > 0; }));
  ::kill(child.pid, SIGSTOP);
  const Client client = make_client(child.server);
  const WorkerId id = WorkerIds{client, workers, {.count = 1}}.acquire();
  const auto first = time_stamp(id).time_since_epoch().count();
  child.end(SIGCONT);
  CHECK(child.last_used() > 0);
  CHECK(child.last_used() < first);
}
