// zklock top in a terminal.
#include "program/terminal.hpp"
#include "support/beside_program.hpp"
#include "support/catch.hpp"
#include "support/operations.hpp"

using namespace zklock;
using namespace zklock::test;

namespace {

struct Fixture {
  testing::TestServer server;
  Client client = make_client(server);
  std::string path = fresh_path();
  Terminal terminal{server.connect_string()};

  void start_top() const {
    terminal.type(std::string{ZKLOCK_PROGRAM} + " top " + path);
    INFO(terminal.text());
    REQUIRE(terminal.shows("/ search"));
  }
  /// The shell is there again, and its terminal takes and shows what is typed, on the screen and at the cursor that it
  /// had before.
  [[nodiscard]] bool is_sane() {
    if (!eventually([&] { return terminal.is_at_rest(); })) return false;  // until then zklock top has the keys
    const std::string number = std::to_string(++checks);
    terminal.type(
        "stty -a | tr ' ;' '\\n\\n' | grep -x -e icanon -e echo -e isig -e opost | sort | tr '\\n' '+'; echo " +
        number);
    return terminal.shows("echo+icanon+isig+opost+" + number) && terminal.is_at_rest();
  }

  int checks = 0;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "zklock top shows a contention as it comes and goes, and q leaves the terminal sane") {
  const InterProcessMutex mutex{client, path + "/nightly"};
  Lease lease = acquire(mutex);
  start_top();
  CHECK(terminal.shows("1 lock  1 held  0 contended"));
  const Client other{
      {.connect_string = server.connect_string(), .session_timeout = session_timeout, .client_id = "the-other"}};
  Pending<Lease> next;
  InterProcessMutex{other, path + "/nightly"}.async_acquire(next.handler());
  CHECK(terminal.shows("1 contended  1 waiting"));
  terminal.press("j");
  terminal.press("Enter");
  CHECK(terminal.shows("1       the-other"));
  terminal.press("b");
  CHECK(terminal.shows("WHO BLOCKS WHOM"));
  CHECK(terminal.shows("    the-other waits"));
  terminal.press("b");
  lease = {};
  CHECK(terminal.shows("holds   the-other"));
  terminal.press("Escape");
  CHECK(eventually([&] { return terminal.text().find("holds ") == std::string::npos; }));
  terminal.type("/none");
  CHECK(terminal.shows("No lock matches."));
  terminal.press("Escape");
  CHECK(terminal.shows("nightly "));
  terminal.press("?");
  CHECK(terminal.shows("open the wait queue of the lock"));
  terminal.press("?");
  terminal.press("q");
  INFO(terminal.text());
  CHECK(is_sane());
}

TEST_CASE_METHOD(Fixture, "zklock top follows the terminal's size, and Ctrl-Z and fg") {
  const InterProcessMutex mutex{client, path + "/nightly"};
  const Lease lease = acquire(mutex);
  start_top();
  REQUIRE(terminal.shows("nightly "));
  terminal.resize(60, 10);
  CHECK(eventually([&] {
    const std::string text = terminal.text();
    const auto foot = text.find("/ search");
    return foot != std::string::npos && std::count(text.begin(), text.begin() + static_cast<long>(foot), '\n') == 9;
  }));
  CHECK(terminal.shows("nightly "));
  terminal.press("C-z");
  CHECK(terminal.shows("Stopped"));
  CHECK(is_sane());
  terminal.resize(100, 30);
  terminal.type("fg");
  CHECK(terminal.shows("/ search"));
  CHECK(terminal.shows("nightly "));
  CHECK(terminal.text().find("Stopped") == std::string::npos);
  terminal.press("C-c");
  CHECK(is_sane());
}

TEST_CASE_METHOD(Fixture, "while ZooKeeper is away zklock top shows what it has seen, and how old that is") {
  // It stays if the holder's session ends meanwhile.
  REQUIRE_FALSE(create(client, path, {}, CreateOptions{CreateMode::persistent}.creating_parent_containers()));
  const InterProcessMutex mutex{client, path + "/nightly"};
  const Lease lease = acquire(mutex);
  start_top();
  REQUIRE(terminal.shows("nightly "));
  server.kill();
  CHECK(terminal.shows("NO ZOOKEEPER: all below is as of "));
  CHECK(terminal.shows("nightly "));
  server.start();
  CHECK(terminal.shows("\nlive"));
  terminal.press("q");
  CHECK(is_sane());
}
