// The addresses of the servers, and the threads that look them up.
#include "server_list.hpp"

#include "support/catch.hpp"
#include "support/lingering_executor.hpp"
#include "support/log.hpp"
#include "support/resolver.hpp"

#include <zklock/testing/manual_clock.hpp>

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

struct Fixture {
  testing::ManualClock clock{};
  asio::io_context context{1};
  std::atomic<int> lingering{0};
  FakeNames names{};
  Log log{};
  std::vector<ServerList::Addresses> published{};
  bool published_too_early = false;  // while a look-up thread was still inside the executor
  std::shared_ptr<ServerList> list = make(context.get_executor());

  ~Fixture() { list->close(); }

  std::shared_ptr<ServerList> make(const asio::any_io_executor& executor) {
    return std::make_shared<ServerList>(executor, log.logger(), [this](const ServerList::Addresses& addresses) {
      published_too_early |= lingering > 0;
      published.push_back(addresses);
    });
  }
  /// The look-ups have threads of their own, which the clock does not control.
  bool eventually(const std::function<bool()>& holds) {
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while (!holds() && std::chrono::steady_clock::now() < limit) {
      clock.run_ready(context);
      context.restart();
      context.run_one_for(10ms);
    }
    return holds();
  }
};

const std::string name = "zoo.test";

}  // namespace

TEST_CASE_METHOD(Fixture, "the addresses of a name are published after the look-up thread has left the executor") {
  list->close();
  list = make(LingeringExecutor{context, lingering});
  names.set(name, {"10.0.0.1"});
  list->set({{name, 2181}});
  REQUIRE(eventually([&] { return !published.empty(); }));
  CHECK_FALSE(published_too_early);
}

TEST_CASE_METHOD(Fixture, "new servers whose names cannot be looked up at first are found later, connected or not") {
  list->set({{"10.0.0.1", 2181}});
  list->stop_refresh();
  list->set({{name, 2181}});
  REQUIRE(eventually([&] { return log.count("none of the servers' names can be looked up") == 1; }));
  list->stop_refresh();
  clock.advance(1s);
  REQUIRE(eventually([&] { return log.count("none of the servers' names can be looked up") == 2; }));
  names.set(name, {"10.0.0.2"});
  clock.advance(2s);
  CHECK(eventually([&] { return published.back() == ServerList::Addresses{"10.0.0.2:2181"}; }));
  CHECK(published.size() == 2);
  const int before = names.look_ups(name);
  clock.run_for(context, 1min);
  CHECK(names.look_ups(name) == before);
}

TEST_CASE_METHOD(Fixture,
                 "a name without an answer does not hide the new address of another, however short the pauses are") {
  const std::string other = "other.test";
  names.set(name, {"10.0.0.1"});
  names.set(other, {"10.0.0.2"});
  list->set({{name, 2181}, {other, 2181}});
  REQUIRE(eventually([&] { return !published.empty(); }));
  names.hold(other);
  names.set(name, {"10.0.0.3"});
  const ServerList::Addresses all{"10.0.0.3:2181", "10.0.0.2:2181"};
  list->start_refresh(100ms);
  for (int i = 0; i < 20 && published.back() != all; ++i) {
    const int before = names.look_ups(name);
    clock.advance(100ms);
    REQUIRE(eventually([&] { return names.look_ups(name) > before; }));
  }
  CHECK(eventually([&] { return published.back() == all; }));
  names.release(other);
}

TEST_CASE_METHOD(Fixture, "names are looked up less and less often, but no less often than the caller says") {
  const auto answers = [&](std::size_t count) {
    return eventually([&] { return log.count("none of the servers' names can be looked up") == count; });
  };
  list->set({{name, 2181}});
  REQUIRE(answers(1));
  std::size_t count = 1;
  for (const auto pause : {1s, 2s, 4s, 8s}) {
    clock.advance(pause);
    REQUIRE(answers(++count));
  }
  list->start_refresh(3s);  // a session may be resumed: the pause of 16 s that has begun is cut short, too
  REQUIRE(answers(++count));
  for (int i = 0; i < 4; ++i) {
    clock.advance(2900ms);
    clock.run_ready(context);
    clock.advance(100ms);
    REQUIRE(answers(++count));
  }
  list->start_refresh();
  clock.advance(3s);
  REQUIRE(answers(++count));
  clock.advance(6s);
  REQUIRE(answers(++count));
  CHECK(names.look_ups(name) == static_cast<int>(count));
}
