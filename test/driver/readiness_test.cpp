// Waiting on a socket that other code opens and closes.
#include "readiness.hpp"

#include "support/catch.hpp"

#include <boost/asio/io_context.hpp>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace zklock;
using namespace std::chrono_literals;

namespace {

/// Two ends of a connection. The first is the library's, which may close it; the second is the server's.
struct Connection {
  std::array<int, 2> ends{-1, -1};

  Connection() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0); }
  ~Connection() {
    for (const int end : ends) ::close(end);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void say_something() const { CHECK(::write(ends[1], "x", 1) == 1); }
};

/// Gives the descriptor `from` the number `number`; the descriptor that had this number is closed.
void take_number(int from, int number) { REQUIRE(::dup2(from, number) == number); }

/// What the process's reactors poll for, for all descriptors together.
unsigned long polled_for() {
  unsigned long all = 0;
  for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fdinfo"}) {
    std::ifstream lines{each.path()};
    for (std::string line; std::getline(lines, line);) {
      const auto mask = line.find("events:");
      if (line.starts_with("tfd:") && mask != std::string::npos) all |= std::stoul(line.substr(mask + 7), nullptr, 16);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a socket that is only to be read is not polled for whether it can be written") {
  asio::io_context context;
  int heard = 0;
  SocketReadiness readiness{context.get_executor(), [&heard](int bits) { heard |= bits; }};
  const Connection connection;
  const int number = connection.ends[0];
  readiness.arm(number, readable | writable, false);
  while (heard == 0 && context.run_one_for(2s) > 0) continue;
  CHECK(heard == writable);
  CHECK((polled_for() & EPOLLOUT) != 0);
  readiness.arm(number, readable, true);
  CHECK((polled_for() & EPOLLOUT) == 0);

  heard = 0;
  connection.say_something();
  while (heard == 0 && context.run_one_for(2s) > 0) continue;
  CHECK(heard == readable);
}

TEST_CASE("a socket number that now belongs to another socket is not waited on, and that socket is left alone") {
  asio::io_context context;
  int heard = 0;
  SocketReadiness readiness{context.get_executor(), [&heard](int bits) { heard |= bits; }};
  const Connection first;
  const Connection second;
  const int number = first.ends[0];

  readiness.arm(number, readable, false);
  take_number(second.ends[0], number);
  readiness.arm(number, readable, false);
  second.say_something();
  while (heard == 0 && context.run_one_for(2s) > 0) continue;
  CHECK(heard == readable);

  SECTION("when it is forgotten") { readiness.disarm(); }
  SECTION("when it is shut down") {
    const Connection somebody_elses;
    take_number(somebody_elses.ends[0], number);
    readiness.shut_down();
    std::array<char, 1> nothing{};
    CHECK(::recv(somebody_elses.ends[1], nothing.data(), 1, MSG_DONTWAIT) == -1);  // it would be 0 at its end
  }
  CHECK(::fcntl(number, F_GETFD) != -1);
}

TEST_CASE("a socket for which no descriptor is left is waited on as soon as there is one") {
  asio::io_context context;
  int heard = 0;
  SocketReadiness readiness{context.get_executor(), [&heard](int bits) { heard |= bits; }};
  const Connection connection;
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  for (int round = 0; round < 2; ++round) {
    const rlimit none{static_cast<rlim_t>(connection.ends[0]), before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    for (int i = 0; i < 3; ++i) readiness.arm(connection.ends[0], readable, false);
    const bool was_armed = readiness.armed();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK_FALSE(was_armed);
    readiness.arm(connection.ends[0], readable, false);
    connection.say_something();
    heard = 0;
    context.restart();
    while (heard == 0 && context.run_one_for(2s) > 0) continue;
    CHECK(heard == readable);
    readiness.disarm();
  }
}
