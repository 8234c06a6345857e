#include "connection.hpp"

#include "duration.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>

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

std::shared_ptr<spdlog::logger> make_logger(bool verbose) {
  if (!verbose) return nullptr;
  auto logger = std::make_shared<spdlog::logger>("zklock", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_level(spdlog::level::debug);
  logger->set_pattern("%H:%M:%S.%e %l %v");
  return logger;
}

}  // namespace

Connection::Connection(const Where& where) : logger_{make_logger(where.verbose)} {
  if (where.dev) server_.emplace();
  connect_ = server_ ? server_->connect_string() : named_by(where);
}

ClientConfig Connection::config(std::chrono::milliseconds session_timeout) const {
  return {.connect_string = connect_,
          .session_timeout = session_timeout,
          .connection_timeout = connect_patience,
          .logger = logger_};
}

Failure Connection::unreachable(std::chrono::milliseconds patience) const {
  return {status::unavailable, "no ZooKeeper at " + connect_ + " within " + format_duration(patience)};
}

}  // namespace zklock::tools
