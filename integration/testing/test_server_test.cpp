// A TestServer: its start, its answers, its port, and the sessions that it ends.
#include "descriptor.hpp"
#include "port.hpp"
#include "server_observation.hpp"
#include "support/await.hpp"
#include "support/catch.hpp"

#include <zklock/testing/test_server.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <sys/socket.h>

namespace {

using namespace std::chrono_literals;
using zklock::test::error_of;
using zklock::test::exists;
using zklock::test::RawClient;
using zklock::testing::Descriptor;
using zklock::testing::TestServer;
namespace fs = std::filesystem;

constexpr int ephemeral = 1;

// Other programs bind without SO_REUSEADDR, as Port does.
Descriptor bound_socket(std::uint16_t port, int reuse_address) {
  Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  REQUIRE(::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &reuse_address, sizeof reuse_address) == 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) socket.reset();
  return socket;
}

}  // namespace

// ---- the start, and the answers

TEST_CASE("a server starts and answers") {
  const TestServer server;
  CHECK(server.connect_string() == "127.0.0.1:" + std::to_string(server.port()));
  CHECK(server.four_letter_word("ruok") == "imok");
  CHECK(server.four_letter_word("srvr").find("Mode: standalone") != std::string::npos);
  CHECK(server.monitor().at("zk_server_state") == "standalone");
  CHECK(server.monitor("zk_ephemerals_count") == 0);
  CHECK(exists(server.pid()));
  CHECK(fs::is_directory(server.directory()));
}

TEST_CASE("the options reach the server") {
  const TestServer server{{.tick = 300ms, .jvm_options = {"-Dzookeeper.globalOutstandingLimit=77"}}};
  const auto configuration = server.four_letter_word("conf");
  CHECK(configuration.find("tickTime=300\n") != std::string::npos);
  CHECK(configuration.find("maxClientCnxns=0\n") != std::string::npos);
  std::ifstream command_line{"/proc/" + std::to_string(server.pid()) + "/cmdline"};
  const std::string words{std::istreambuf_iterator<char>{command_line}, {}};
  CHECK(words.find("-Dznode.container.checkIntervalMs=100") != std::string::npos);
  CHECK(words.find("-Dzookeeper.forceSync=no") != std::string::npos);
  CHECK(words.find("-Dzookeeper.globalOutstandingLimit=77") != std::string::npos);
}

TEST_CASE("options that make no sense are refused") {
  CHECK_THROWS_AS((TestServer{{.tick = 0ms}}), std::invalid_argument);
  CHECK_THROWS_AS((TestServer{{.container_check = -1ms}}), std::invalid_argument);
  CHECK_THROWS_AS((TestServer{{.start_timeout = 0ms}}), std::invalid_argument);
  CHECK_THROWS_AS((TestServer{{.jvm_options = {"org.example.Main"}}}), std::invalid_argument);
}

TEST_CASE("two servers run side by side") {
  TestServer first;
  TestServer second;
  CHECK(first.port() != second.port());
  CHECK(first.directory() != second.directory());
  REQUIRE(RawClient{first.port()}.create("/here", 0) == 0);
  CHECK_FALSE(RawClient{second.port()}.has("/here"));
  const int pid = second.pid();
  first = std::move(second);
  CHECK(first.pid() == pid);
  CHECK(first.four_letter_word("ruok") == "imok");
}

TEST_CASE("four_letter_word and monitor refuse names that the server does not know") {
  const TestServer server;
  CHECK_THROWS_AS(server.four_letter_word("ru"), std::invalid_argument);
  CHECK_THROWS_AS(server.four_letter_word("nono"), std::runtime_error);
  CHECK_THROWS_AS(server.monitor("zk_nonsense"), std::runtime_error);
  CHECK_THROWS_AS(server.monitor("zk_version"), std::runtime_error);
}

TEST_CASE("without Java or ZooKeeper's classes a server gives a clear error at once") {
  static constexpr auto never = 1h;  // does not wait that long
  const auto no_classes =
      error_of([] { TestServer server{{.start_timeout = never, .classpath = "/nonexistent.jar"}}; });
  CHECK(no_classes.find("Could not find or load main class") != std::string::npos);
  CHECK(no_classes.find("ZKLOCK_TEST_CLASSPATH") != std::string::npos);

  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  const auto no_java = error_of([] { TestServer server{{.start_timeout = never}}; });
  ::setenv("PATH", path.c_str(), 1);
  CHECK(no_java.find("java: ") != std::string::npos);  // the rest is the shell's message
  CHECK(no_java.find("ZKLOCK_TEST_CLASSPATH") != std::string::npos);
}

TEST_CASE("a server that does not start in time is an error") {
  CHECK(error_of([] { TestServer server{{.start_timeout = 20ms}}; }).find("within 20 ms") != std::string::npos);
}

// ---- the port

TEST_CASE("a port stays reserved while no socket listens on it") {
  std::uint16_t number = 0;
  {
    const zklock::testing::Port port;
    number = port.number();
    CHECK_FALSE(bound_socket(number, 0));
    const auto server = bound_socket(number, 1);
    REQUIRE(server);
    CHECK(::listen(server.get(), 10) == 0);
  }
  CHECK(bound_socket(number, 0));
}

TEST_CASE("a server whose port was taken while it was stopped reports that") {
  TestServer server;
  server.stop();
  auto thief = bound_socket(server.port(), 1);
  REQUIRE(::listen(thief.get(), 10) == 0);
  CHECK(error_of([&] { server.start(); }).find("Address already in use") != std::string::npos);
  thief.reset();
  server.start();
  CHECK(server.four_letter_word("ruok") == "imok");
}

// ---- sessions

TEST_CASE("end_session ends a session, and its ephemeral nodes are deleted") {
  TestServer server;
  RawClient client{server.port()};
  RawClient other{server.port()};
  REQUIRE(client.create("/ephemeral", ephemeral) == 0);
  REQUIRE(server.monitor("zk_ephemerals_count") == 1);
  server.end_session(client.session().id, client.session().password);
  CHECK(server.monitor("zk_ephemerals_count") == 0);
  CHECK_FALSE(other.has("/ephemeral"));
  const RawClient back{server.port(), client.session()};
  CHECK(back.session().id == 0);
  server.end_session(client.session().id, client.session().password);  // the session is over already: no error
}

TEST_CASE("end_session ends a session whose client reconnects all the time") {
  TestServer server;
  for (int round = 0; round < 5; ++round) {
    RawClient first{server.port()};
    REQUIRE(first.create("/ephemeral", ephemeral) == 0);
    std::jthread client{[&, session = first.session()](const std::stop_token& stop) {
      while (!stop.stop_requested()) try {
          RawClient again{server.port(), session, 300ms};
          if (again.session().id == 0) return;
          while (again.has("/ephemeral")) continue;
        } catch (const std::runtime_error&) {  // disconnected, or no reply: reconnect at once
        }
    }};
    CHECK(error_of([&] { server.end_session(first.session().id, first.session().password); }) == "");
    CHECK(server.monitor("zk_ephemerals_count") == 0);
  }
}

TEST_CASE("end_session reports that it could not end the session") {
  TestServer server;
  RawClient client{server.port()};
  CHECK(error_of([&] { server.end_session(client.session().id, "wrong"); }).find("password") != std::string::npos);
  const RawClient back{server.port(), client.session()};
  CHECK(back.session().id == client.session().id);
  server.pause();
  CHECK(error_of([&] { server.end_session(client.session().id, client.session().password); }).find("no answer") !=
        std::string::npos);
}
