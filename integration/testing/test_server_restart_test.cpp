// A TestServer that is stopped, killed or paused, and started again.
#include "server_observation.hpp"
#include "setup.hpp"
#include "support/await.hpp"
#include "support/catch.hpp"

#include <zklock/testing/test_server.hpp>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

using zklock::test::error_of;
using zklock::test::eventually;
using zklock::test::exists;
using zklock::test::RawClient;
using zklock::test::state_and_parent;
using zklock::testing::TestServer;
namespace fs = std::filesystem;

TEST_CASE("data and address survive stop, kill and restart") {
  TestServer server;
  const auto address = server.connect_string();
  REQUIRE(RawClient{server.port()}.create("/kept", 0) == 0);

  const auto end_and_start = GENERATE(0, 1, 2);
  const int pid = server.pid();
  if (end_and_start == 0) server.stop();
  if (end_and_start == 1) server.kill();
  if (end_and_start != 2) {
    CHECK_FALSE(exists(pid));
    CHECK(server.pid() == 0);
    CHECK_THROWS_AS(server.four_letter_word("ruok"), std::runtime_error);
    CHECK(fs::is_directory(server.directory()));
    server.start();
  } else {
    server.restart();
  }
  CHECK(server.pid() != pid);
  CHECK(server.connect_string() == address);
  CHECK(RawClient{server.port()}.has("/kept"));
}

// A server that is killed while it makes a log leaves that log without a header, and at its next start it ends because
// of that (3.8.0: EOFException in FileTxnLog; ZOOKEEPER-1621).
TEST_CASE("a server that was killed while it made a new transaction log starts with all its data") {
  TestServer server;
  REQUIRE(RawClient{server.port()}.create("/kept", 0) == 0);
  const fs::path logs = server.directory() / "data" / "version-2";
  const std::string name = "log.7fffffffffffffff";  // after all other logs
  const auto leave_log = [&](std::uintmax_t size) {
    std::ofstream{logs / name};
    fs::resize_file(logs / name, size);
  };
  server.kill();
  for (const std::uintmax_t size : {0U, 7U, 15U}) {  // a header has 16 bytes
    INFO(size);
    leave_log(size);
    REQUIRE(error_of([&] { server.start(); }).empty());
    CHECK(RawClient{server.port()}.has("/kept"));
    CHECK_FALSE(fs::exists(logs / name));
    CHECK(fs::file_size(logs / ("headless." + name)) == size);
    server.kill();
  }
  const std::string log{std::istreambuf_iterator<char>{std::ifstream{server.directory() / "server.log"}.rdbuf()}, {}};
  CHECK(log.find("set aside " + name) != std::string::npos);
}

TEST_CASE("only the last transaction log is set aside, and only if it is too short to hold a transaction") {
  const TestServer server;  // deletes its directory at its end
  const fs::path directory = server.directory() / "of-logs";
  const auto has = [&](const char* name) { return fs::exists(directory / "data" / "version-2" / name); };
  CHECK(zklock::testing::set_aside_headless_log(directory).empty());
  fs::create_directories(directory / "data" / "version-2");
  const auto make = [&](const char* name, std::uintmax_t size) {
    const fs::path file = directory / "data" / "version-2" / name;
    std::ofstream{file};
    fs::resize_file(file, size);
  };
  make("log.9", 3);  // in the middle: no kill leaves it there, and an operator should see it
  make("log.a1", 16);
  make("snapshot.ff", 0);
  CHECK(zklock::testing::set_aside_headless_log(directory).empty());
  make("log.100", 15);  // the order of the numbers, not of the text, tells which log is the last
  CHECK(zklock::testing::set_aside_headless_log(directory) == "log.100");
  CHECK(has("headless.log.100"));
  CHECK((has("log.9") && has("log.a1") && has("snapshot.ff") && !has("log.100")));
  CHECK(zklock::testing::set_aside_headless_log(directory).empty());
}

TEST_CASE("stopping a stopped server and starting a running one change nothing") {
  TestServer server;
  const int pid = server.pid();
  server.start();
  CHECK(server.pid() == pid);
  server.stop();
  server.stop();
  server.kill();
  CHECK(server.pid() == 0);
  CHECK_THROWS_AS(server.pause(), std::runtime_error);
}

TEST_CASE("a server that was killed from outside can be started again") {
  TestServer server;
  const int pid = server.pid();
  REQUIRE(::kill(pid, SIGKILL) == 0);
  REQUIRE(eventually([&] { return !error_of([&] { server.resume(); }).empty(); }));
  server.start();
  CHECK(server.pid() != pid);
  CHECK_FALSE(exists(pid));
  CHECK(server.four_letter_word("ruok") == "imok");
}

TEST_CASE("a paused server keeps its connections and does not answer until it is resumed") {
  TestServer server;
  RawClient client{server.port()};
  server.pause();
  for (const auto& task : fs::directory_iterator{"/proc/" + std::to_string(server.pid()) + "/task"})
    CHECK(state_and_parent(task.path()).front() == 'T');
  CHECK(error_of([&] { (void)server.four_letter_word("ruok"); }).find("no answer in time") != std::string::npos);
  server.resume();
  CHECK(server.four_letter_word("ruok") == "imok");
  CHECK(client.create("/after", 0) == 0);
}

TEST_CASE("a paused server can be stopped and killed") {
  TestServer server;
  server.pause();
  server.stop();
  CHECK(server.pid() == 0);
  server.start();
  server.pause();
  server.kill();
  CHECK(server.pid() == 0);
}

TEST_CASE("a server can be stopped although its owner's thread blocks all signals") {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  REQUIRE(::pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
  const auto term = std::signal(SIGTERM, SIG_IGN);
  TestServer server;
  const auto error = error_of([&] { server.stop(); });
  std::signal(SIGTERM, term);
  sigset_t mask;
  REQUIRE(::pthread_sigmask(SIG_SETMASK, &before, &mask) == 0);
  CHECK(error.empty());
  CHECK(::sigismember(&mask, SIGUSR1) == 1);
}
