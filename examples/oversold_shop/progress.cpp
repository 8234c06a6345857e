#include "progress.hpp"

#include <cstdio>

#include <unistd.h>

namespace shop {
namespace {

bool on_terminal() {
  static const bool result = ::isatty(STDOUT_FILENO) == 1;
  return result;
}

constexpr const char* clear_line = "\r\x1b[K";

}  // namespace

void Progress::show(int sold, int stock, Clock::duration elapsed) {
  const auto now = Clock::now();
  if (now - last_ < (on_terminal() ? 100ms : 1000ms)) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(elapsed).count();
  std::printf("%s%s: %d sold of a stock of %d, %.1f s%s", on_terminal() ? clear_line : "", title_.c_str(), sold, stock,
              seconds, on_terminal() ? "" : "\n");
  std::fflush(stdout);
}

void Progress::finish(const std::string& outcome) {
  std::printf("%s%s: %s\n", on_terminal() ? clear_line : "", title_.c_str(), outcome.c_str());
  std::fflush(stdout);
}

}  // namespace shop
