#include <zklock/recipe_kit/observers.hpp>

#include <spdlog/spdlog.h>

namespace zklock::detail {

namespace {

void log_text(spdlog::logger& logger, const char* text) {
  logger.error("zklock: an observer has thrown an exception, which is ignored, as later ones will be: {}", text);
}

}  // namespace

void log_thrown(const std::shared_ptr<spdlog::logger>& logger, const std::exception_ptr& thrown) noexcept try {
  if (!logger) return;
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    log_text(*logger, error.what());
  } catch (...) {
    log_text(*logger, "no std::exception");
  }
} catch (...) {  // out of memory: the client goes on without the log line
}

}  // namespace zklock::detail
