// The process between `zklock run` and its command, without a lock.
#include "guard.hpp"

#include "command.hpp"
#include "failure.hpp"
#include "support/catch.hpp"

#include <zklock/clock.hpp>

#include <chrono>
#include <string>

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

using namespace zklock;
using namespace zklock::tools;
using namespace std::chrono_literals;

TEST_CASE("a guard that hears nothing but the lease and the environment ends its command with the lease") {
  RunOptions options;
  options.path = "/orders";
  options.command = {"sleep", "1000"};
  sigset_t none;
  ::sigemptyset(&none);
  GuardProcess guard{options, none};
  const int socket = guard.take_socket();
  const timeval limit{20, 0};
  REQUIRE(::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);

  const auto until = Clock::now() + 300ms;
  const Order keep{Order::Kind::keep, 0, false, until.time_since_epoch().count()};
  const std::string environment{"A=1\0", 4};
  CHECK(::send(socket, &keep, sizeof keep, MSG_NOSIGNAL) == sizeof keep);
  CHECK(::send(socket, environment.data(), environment.size(), MSG_NOSIGNAL) == 4);
  Report report;
  const auto size = ::recv(socket, &report, sizeof report, 0);
  ::close(socket);
  REQUIRE(size == sizeof report);
  CHECK(report.kind == Report::Kind::ended);
  CHECK(report.number == 128 + SIGTERM);
  CHECK(Clock::time_point{Clock::duration{report.at}} >= until);
}

TEST_CASE("a guard without a lease, or with one that is over, starts no command") {
  RunOptions options;
  options.command = {"false"};  // its status, 1, would be reported
  sigset_t none;
  ::sigemptyset(&none);
  GuardProcess guard{options, none};
  const int socket = guard.take_socket();
  const timeval limit{20, 0};
  REQUIRE(::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  Report report;
  SECTION("the environment alone") {
    REQUIRE(::send(socket, "A=1", 4, MSG_NOSIGNAL) == 4);
    REQUIRE(::shutdown(socket, SHUT_WR) == 0);
    CHECK(::recv(socket, &report, sizeof report, 0) == 0);  // the guard has ended
  }
  SECTION("a lease that is over") {
    const Order keep{Order::Kind::keep, 0, false, Clock::now().time_since_epoch().count()};
    REQUIRE(::send(socket, &keep, sizeof keep, MSG_NOSIGNAL) == sizeof keep);
    REQUIRE(::send(socket, "A=1", 4, MSG_NOSIGNAL) == 4);
    REQUIRE(::recv(socket, &report, sizeof report, 0) == sizeof report);
    CHECK(report.kind == Report::Kind::ended);
    CHECK(report.number == status::lock_lost);
  }
  ::close(socket);
}
