#include "server_impl.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <utility>

namespace zklock::testing {

using namespace std::chrono_literals;

namespace {

struct PortTaken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::chrono::milliseconds elapsed(Deadline begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
}

}  // namespace

std::string reserved_address(const std::string& address) { return address.starts_with("127.") ? address : "127.0.0.1"; }

TestServer::Impl::Impl(TestServerOptions good, Place where)
    : Impl{std::move(good), std::move(where), new_directory_name()} {}

TestServer::Impl::Impl(TestServerOptions&& good, Place&& where, const std::filesystem::path& directory)
    : options{std::move(good)},
      place{std::move(where)},
      port{reserved_address(place.address), options.port},
      process{directory, command(options, place, directory)} {}

void TestServer::Impl::launch_somewhere() {
  for (int attempts = 5;; --attempts) {
    configure();
    try {
      return launch();
    } catch (const PortTaken&) {
      if (attempts == 1 || options.port != 0) throw;
      port = Port{reserved_address(place.address)};
    }
  }
}

void TestServer::Impl::launch() {
  begin_launch();
  finish_launch();
}

void TestServer::Impl::begin_launch() {
  launched = std::chrono::steady_clock::now();
  log_begin = size_of(process.log_file());
  if (const std::string log = set_aside_headless_log(process.directory()); !log.empty())
    std::ofstream{process.log_file(), std::ios::app} << "zklock::testing has set aside " << log
                                                     << ", which has no header\n";
  process.start();
}

void TestServer::Impl::finish_launch() {
  const auto deadline = launched + options.start_timeout;
  while (process.started() && !serves(std::min(deadline, after(50ms + elapsed(launched) / 2)))) {
    if (process.wait_end(after(5ms))) process.reap();
    if (std::chrono::steady_clock::now() >= deadline) give_up();
  }
  if (process.started()) return;
  const auto error = failure(
      "has ended instead of starting. It needs java and ZooKeeper's classes: Debian's package "
      "zookeeper, or what the environment's ZKLOCK_TEST_CLASSPATH names");
  if (std::string_view{error.what()}.find("BindException") != std::string_view::npos) throw PortTaken{error.what()};
  throw error;
}

// Checks that the server on this port is this one: "conf" names the data directory. A question that comes when the
// server listens and has no database yet may never be answered (3.8.0: NullPointerException in
// ZooKeeperServer.removeCnxn). A member of an ensemble cannot answer "conf" before it has joined.
bool TestServer::Impl::serves(Deadline deadline) const {
  try {
    if (place.id != 0) return wire::four_letter_word(endpoint(), "ruok", deadline) == "imok";
    const auto answer = wire::four_letter_word(endpoint(), "conf", deadline);
    return answer.find(data_directory(process.directory()).string()) != std::string::npos;
  } catch (const std::runtime_error&) {
    return false;
  }
}

void TestServer::Impl::give_up() {
  const auto error = failure("did not answer within " + std::to_string(options.start_timeout.count()) + " ms");
  end(SIGKILL);
  throw error;
}

void TestServer::Impl::end(int signal) {
  if (!process.started()) return;
  process.signal(signal);
  process.signal(SIGCONT);
  paused = false;
  if (!process.wait_end(after(limit))) throw failure("does not end on signal " + std::to_string(signal));
  process.reap();
}

void TestServer::Impl::send_signal(int signal) const {
  if (!process.running()) throw failure("is not running");
  process.signal(signal);
}

std::runtime_error TestServer::Impl::failure(const std::string& what) const {
  return std::runtime_error{"The ZooKeeper server on " + place.address + ":" + std::to_string(port.number()) + " " +
                            what + ". The end of its log: " + tail(process.log_file(), log_begin)};
}

}  // namespace zklock::testing
