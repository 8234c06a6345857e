// How a server is started, watched and ended.
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

/// How long a server may take for what is done at once.
inline constexpr std::chrono::milliseconds patience{5'000};

/// Where to reserve a server's ports: an address of another network namespace has all of its own free.
[[nodiscard]] std::string reserved_address(const std::string& address);

/// One server's process, place and port. It starts nothing by itself.
struct TestServer::Impl {
  explicit Impl(TestServerOptions given) : Impl{checked(std::move(given)), Place{}} {}
  Impl(TestServerOptions good, Place where);

  /// Configures it for its port and starts it; on another port if that one is taken, which only a program that binds
  /// with SO_REUSEADDR can have done.
  void launch_somewhere();
  /// Starts it, and waits until it answers.
  void launch();
  void configure() const { write_configuration(process.directory(), options, place, port.number()); }
  void begin_launch();
  void finish_launch();
  void end(int signal);
  void send_signal(int signal) const;

  [[nodiscard]] wire::Endpoint endpoint() const { return {place.address, port.number()}; }
  [[nodiscard]] bool serves(Deadline deadline) const;
  /// It ought to answer: it is started and not paused.
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
