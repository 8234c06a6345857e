#include "port.hpp"
#include "server_process.hpp"
#include "setup.hpp"
#include "wire.hpp"

#include <zklock/testing/test_server.hpp>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace zklock::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds patience = 5s;

struct PortTaken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::chrono::milliseconds elapsed(Deadline begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
}

std::string hexadecimal(std::int64_t number) {
  std::ostringstream text;
  text << "0x" << std::hex << number;
  return text.str();
}

// "dump" names each live session on a line of its own.
bool has_session(const std::string& dump, std::int64_t id) {
  if (!dump.starts_with("SessionTracker dump")) return true;  // it does not serve yet
  return dump.find("\n\t" + hexadecimal(id) + "\n") != std::string::npos;
}

}  // namespace

struct TestServer::Impl {
  explicit Impl(TestServerOptions given) : Impl{checked(std::move(given)), new_directory_name()} {}

  Impl(const TestServerOptions& good, const std::filesystem::path& directory)
      : options{good}, process{directory, command(options, directory)} {
    for (int attempts = 5; !try_first_launch(attempts == 1); --attempts) port = Port{};
  }

  // False: the port was taken, which only a program that binds with SO_REUSEADDR can have done.
  bool try_first_launch(bool last_attempt) {
    write_configuration(process.directory(), port.number(), options.tick);
    try {
      launch();
      return true;
    } catch (const PortTaken&) {
      if (last_attempt) throw;
      return false;
    }
  }

  void launch() {
    const auto begin = std::chrono::steady_clock::now();
    const auto deadline = after(options.start_timeout);
    log_begin = size_of(process.log_file());
    process.start();
    while (process.started() && !serves(std::min(deadline, after(50ms + elapsed(begin) / 2)))) {
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

  // Not just somebody on this port: "conf" names the data directory. A question that comes when the server listens and
  // has no database yet may never be answered (3.8.0: NullPointerException in ZooKeeperServer.removeCnxn).
  [[nodiscard]] bool serves(Deadline deadline) const {
    try {
      const auto answer = wire::four_letter_word(port.number(), "conf", deadline);
      return answer.find(data_directory(process.directory()).string()) != std::string::npos;
    } catch (const std::runtime_error&) {
      return false;
    }
  }

  void give_up() {
    const auto error = failure("did not answer within " + std::to_string(options.start_timeout.count()) + " ms");
    end(SIGKILL);
    throw error;
  }

  void end(int signal) {
    if (!process.started()) return;
    process.signal(signal);
    process.signal(SIGCONT);
    if (!process.wait_end(after(patience))) throw failure("does not end on signal " + std::to_string(signal));
    process.reap();
  }

  void send_signal(int signal) const {
    if (!process.running()) throw failure("is not running");
    process.signal(signal);
  }

  [[nodiscard]] std::runtime_error failure(const std::string& what) const {
    return std::runtime_error{"The ZooKeeper server on 127.0.0.1:" + std::to_string(port.number()) + " " + what +
                              ". The end of its log: " + tail(process.log_file(), log_begin)};
  }

  TestServerOptions options;
  Port port;
  std::uintmax_t log_begin = 0;
  ServerProcess process;
};

TestServer::TestServer(TestServerOptions options) : impl_{std::make_unique<Impl>(std::move(options))} {}
TestServer::~TestServer() = default;
TestServer::TestServer(TestServer&&) noexcept = default;
TestServer& TestServer::operator=(TestServer&&) noexcept = default;

std::string TestServer::connect_string() const { return "127.0.0.1:" + std::to_string(port()); }
std::uint16_t TestServer::port() const noexcept { return impl_->port.number(); }
int TestServer::pid() const noexcept { return impl_->process.pid(); }
const std::filesystem::path& TestServer::directory() const noexcept { return impl_->process.directory(); }

void TestServer::stop() { impl_->end(SIGTERM); }
void TestServer::kill() { impl_->end(SIGKILL); }

void TestServer::start() {
  if (impl_->process.running()) return;
  kill();  // what is left of a server that has ended on its own
  impl_->launch();
}

void TestServer::restart() {
  stop();
  start();
}

void TestServer::pause() {
  impl_->send_signal(SIGSTOP);
  if (!impl_->process.wait_stopped(after(patience))) throw impl_->failure("does not stop on SIGSTOP");
}

void TestServer::resume() { impl_->send_signal(SIGCONT); }

void TestServer::end_session(std::int64_t session_id, std::string_view password) {
  const wire::SessionName session{session_id, std::string{password}};
  std::string trouble;
  for (const auto deadline = after(patience); std::chrono::steady_clock::now() < deadline;
       std::this_thread::sleep_for(5ms)) {
    try {
      // Not all the time for one try: when two fight for a session, the server may never answer one of them (3.8.0).
      const bool closed = wire::close_session(port(), session, after(500ms));
      if (!has_session(four_letter_word("dump"), session_id)) return;
      trouble = closed ? "it is still in the server's list" : "is the password right?";
    } catch (const std::runtime_error& error) {  // for one: the session's client has taken it back in between
      trouble = error.what();
    }
  }
  throw impl_->failure("did not end session " + hexadecimal(session_id) + ": " + trouble);
}

std::string TestServer::four_letter_word(std::string_view word) const {
  if (word.size() != 4) throw std::invalid_argument{"not a four-letter word: " + std::string{word}};
  std::string trouble = "no answer: does it know the word?";
  try {
    auto answer = wire::four_letter_word(port(), word, after(patience));
    if (!answer.empty()) return answer;
  } catch (const std::runtime_error& error) {
    trouble = error.what();
  }
  throw impl_->failure("was asked '" + std::string{word} + "': " + trouble);
}

std::map<std::string, std::string> TestServer::monitor() const {
  std::map<std::string, std::string> table;
  std::istringstream lines{four_letter_word("mntr")};
  for (std::string key, value; std::getline(lines, key, '\t') && std::getline(lines, value);) table[key] = value;
  return table;
}

std::int64_t TestServer::monitor(const std::string& key) const {
  const auto table = monitor();
  const auto entry = table.find(key);
  if (entry == table.end()) throw impl_->failure("has nothing named " + key + " to monitor");
  const auto& text = entry->second;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    throw impl_->failure("says that " + key + " is " + text + ", which is no whole number");
  return number;
}

}  // namespace zklock::testing
