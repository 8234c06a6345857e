#include "failing_send.hpp"

#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace zklock::test {
namespace {

struct Plan {
  std::mutex mutex;
  std::atomic<std::uint16_t> port{0};  // 0: there is none
  FailingSend::Where where;
  bool has_failed = false;
  int with_signals = 0;
};

Plan& plan() {
  static Plan only;
  return only;
}

bool leads_to(int socket, std::uint16_t port) {
  sockaddr_in peer{};
  socklen_t size = sizeof peer;
  return ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) == 0 && peer.sin_family == AF_INET &&
         ntohs(peer.sin_port) == port;
}

}  // namespace

FailingSend::FailingSend(std::uint16_t port, Where where) {
  const std::lock_guard lock{plan().mutex};
  plan().where = where;
  plan().has_failed = false;
  plan().with_signals = 0;
  plan().port = port;
}

FailingSend::~FailingSend() { plan().port = 0; }

bool FailingSend::has_failed() const {
  const std::lock_guard lock{plan().mutex};
  return plan().has_failed;
}

int FailingSend::with_signals() const {
  const std::lock_guard lock{plan().mutex};
  return plan().with_signals;
}

}  // namespace zklock::test

/// The test program's own function, which the library's sends call.
extern "C" ssize_t send(int socket, const void* bytes, size_t size, int flags) {
  using Function = ssize_t (*)(int, const void*, size_t, int);
  static const auto system = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "send"));
  auto& plan = zklock::test::plan();
  if (plan.port == 0 || !zklock::test::leads_to(socket, plan.port)) return system(socket, bytes, size, flags);

  const std::lock_guard lock{plan.mutex};
  if (!(flags & MSG_NOSIGNAL)) ++plan.with_signals;
  if (plan.has_failed || plan.where.after-- > 0) return system(socket, bytes, size, flags);
  if (std::exchange(plan.where.half, false)) return system(socket, bytes, size / 2, flags);
  plan.has_failed = true;
  errno = ECONNRESET;
  return -1;
}
