// Starts, watches and ends a server.
#pragma once

#include "port.hpp"
#include "server_process.hpp"
#include "setup.hpp"
#include "wire.hpp"

#include <zklock/testing/test_server.hpp>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace zklock::testing {

/// The time limit for actions that a server does at once.
inline constexpr std::chrono::milliseconds limit{5'000};

/// Where to reserve a server's ports: all ports of an address in another network namespace are free.
[[nodiscard]] std::string reserved_address(const std::string& address);

/// The process, place and port of one server. The constructor starts nothing.
struct TestServer::Impl {
  explicit Impl(TestServerOptions given) : Impl{checked(std::move(given)), Place{}} {}
  Impl(TestServerOptions good, Place where);

  /// Configures the server for its port and starts it. Uses another port if that one is taken; only a program that
  /// binds with SO_REUSEADDR can have taken it.
  void launch_somewhere();
  /// Starts the server, and waits until it answers.
  void launch();
  void configure() const { write_configuration(process.directory(), options, place, port.number()); }
  void begin_launch();
  void finish_launch();
  void end(int signal);
  void send_signal(int signal) const;

  [[nodiscard]] wire::Endpoint endpoint() const { return {place.address, port.number()}; }
  [[nodiscard]] bool serves(Deadline deadline) const;
  /// The server should answer: it is started and not paused.
  [[nodiscard]] bool active() const { return process.started() && !paused; }
  [[nodiscard]] std::runtime_error failure(const std::string& what) const;

  TestServerOptions options;
  Place place;
  Port port;
  std::uintmax_t log_begin = 0;
  Deadline launched{};
  bool paused = false;
  ServerProcess process;

 private:
  Impl(TestServerOptions&& good, Place&& where, const std::filesystem::path& directory);
  void give_up();
};

}  // namespace zklock::testing
