#include "polling.hpp"
#include "server_impl.hpp"

#include <zklock/testing/test_server.hpp>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <sstream>
#include <stdexcept>

namespace zklock::testing {
namespace {

using namespace std::chrono_literals;

std::string hexadecimal(std::int64_t number) {
  std::ostringstream text;
  text << "0x" << std::hex << number;
  return text.str();
}

// "dump" names each live session on its own line.
bool has_session(const std::string& dump, std::int64_t id) {
  if (!dump.starts_with("SessionTracker dump")) return true;  // the server does not serve yet
  return dump.find("\n\t" + hexadecimal(id) + "\n") != std::string::npos;
}

}  // namespace

TestServer::TestServer(TestServerOptions options) : impl_{std::make_unique<Impl>(std::move(options))} {
  impl_->launch_somewhere();
}
TestServer::TestServer(std::unique_ptr<Impl> impl) noexcept : impl_{std::move(impl)} {}
TestServer::~TestServer() = default;
TestServer::TestServer(TestServer&&) noexcept = default;
TestServer& TestServer::operator=(TestServer&&) noexcept = default;

std::string TestServer::connect_string() const { return address() + ":" + std::to_string(port()); }
const std::string& TestServer::address() const noexcept { return impl_->place.address; }
std::uint16_t TestServer::port() const noexcept { return impl_->port.number(); }
int TestServer::pid() const noexcept { return impl_->process.pid(); }
const std::filesystem::path& TestServer::directory() const noexcept { return impl_->process.directory(); }

void TestServer::stop() { impl_->end(SIGTERM); }
void TestServer::kill() { impl_->end(SIGKILL); }

void TestServer::start() {
  if (impl_->process.running()) return;
  kill();  // the rest of a server that has ended on its own
  impl_->launch();
}

void TestServer::restart() {
  stop();
  start();
}

void TestServer::pause() {
  impl_->send_signal(SIGSTOP);
  if (!impl_->process.wait_stopped(after(limit))) throw impl_->failure("does not stop on SIGSTOP");
  impl_->paused = true;
}

void TestServer::resume() {
  impl_->send_signal(SIGCONT);
  impl_->paused = false;
}

void TestServer::end_session(std::int64_t session_id, std::string_view password) {
  const wire::SessionName session{session_id, std::string{password}};
  std::string trouble;
  const auto has_ended = [&] {
    try {
      // Only a part of the time for one try: when two connections compete for a session, the server may never answer
      // one of them (3.8.0).
      const bool closed = wire::close_session(impl_->endpoint(), session, after(500ms));
      if (!has_session(four_letter_word("dump"), session_id)) return true;
      trouble = closed ? "it is still in the server's list" : "is the password right?";
    } catch (const std::runtime_error& error) {  // e.g. the session's client has taken it back in between
      trouble = error.what();
    }
    return false;
  };
  if (ask_until(has_ended, after(limit))) return;
  throw impl_->failure("did not end session " + hexadecimal(session_id) + ": " + trouble);
}

std::string TestServer::four_letter_word(std::string_view word) const {
  if (word.size() != 4) throw std::invalid_argument{"not a four-letter word: " + std::string{word}};
  std::string trouble = "no answer: does it know the word?";
  try {
    auto answer = wire::four_letter_word(impl_->endpoint(), word, after(limit));
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
