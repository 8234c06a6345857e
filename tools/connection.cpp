#include "connection.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace zklock::tools {
namespace {

std::string named_by(const Where& where) {
  if (!where.connect.empty()) return where.connect;
  const char* from_environment = std::getenv("ZKLOCK_CONNECT");
  if (from_environment != nullptr && *from_environment != '\0') return from_environment;
  throw Failure{
      status::usage,
      "which ZooKeeper? Say --connect HOST:PORT, set ZKLOCK_CONNECT in the environment, or let 'zklock run --dev' "
      "start a throw-away server"};
}

AuthInfo to_auth(const std::string& text, const std::string& source) {
  const auto colon = text.find(':');
  if (colon != 0 && colon != std::string::npos) return {text.substr(0, colon), text.substr(colon + 1)};
  // The message does not contain the text: it may be a password.
  throw Failure{status::usage, source + " is no SCHEME:ID, such as digest:alice:secret"};
}

void add_lines(std::vector<AuthInfo>& all, std::istream& lines, const std::string& source) {
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) all.push_back(to_auth(line, "a line of " + source));
  }
}

std::vector<AuthInfo> credentials(const Where& where) {
  std::vector<AuthInfo> all;
  for (const std::string& text : where.auth) all.push_back(to_auth(text, "--auth"));
  if (!where.auth_file.empty()) {
    std::ifstream file{where.auth_file};
    if (!file) throw Failure{status::usage, "cannot read --auth-file " + where.auth_file};
    add_lines(all, file, where.auth_file);
  }
  if (const char* from_environment = std::getenv("ZKLOCK_AUTH")) {
    std::istringstream lines{from_environment};
    add_lines(all, lines, "$ZKLOCK_AUTH");
  }
  return all;
}

std::shared_ptr<spdlog::logger> make_logger(bool verbose) {
  if (!verbose) return nullptr;
  auto logger = std::make_shared<spdlog::logger>("zklock", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_level(spdlog::level::debug);
  logger->set_pattern("%H:%M:%S.%e %l %v");
  return logger;
}

}  // namespace

Connection::Connection(const Where& where) : auth_{credentials(where)}, logger_{make_logger(where.verbose)} {
  if (where.dev) server_.emplace();
  connect_ = server_ ? server_->connect_string() : named_by(where);
}

ClientConfig Connection::config(std::chrono::milliseconds session_timeout) const {
  return {.connect_string = connect_,
          .session_timeout = session_timeout,
          .connection_timeout = connect_limit,
          .auth = auth_,
          .logger = logger_};
}

Failure Connection::unreachable(const ClientHandle& client) const {
  return {status::unavailable, "no ZooKeeper at " + connect_ + ": " + client.connection_trouble()};
}

}  // namespace zklock::tools
