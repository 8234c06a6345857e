// The program's own send, recv, epoll_wait and operator new take precedence over the libraries' ones, so that the
// libraries call them, too.
#include "counters.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

#include <dlfcn.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace zklock::bench {
namespace {

std::atomic<std::uint64_t> flights{0};
std::atomic<std::uint64_t> wake_ups{0};
std::atomic<std::uint64_t> allocations{0};
thread_local bool in_flight = false;  // the last socket operation of this thread was a send

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

double bytes_in_use() noexcept {
  const auto memory = ::mallinfo2();
  return static_cast<double>(memory.uordblks + memory.hblkhd);
}

Counters count() noexcept { return {flights, wake_ups, allocations}; }

}  // namespace zklock::bench

using namespace zklock::bench;

extern "C" ssize_t send(int socket, const void* data, std::size_t size, int flags) {
  static const auto real = next<ssize_t (*)(int, const void*, std::size_t, int)>("send");
  if (!std::exchange(in_flight, true)) ++flights;
  return real(socket, data, size, flags);
}

extern "C" ssize_t recv(int socket, void* data, std::size_t size, int flags) {
  static const auto real = next<ssize_t (*)(int, void*, std::size_t, int)>("recv");
  const auto got = real(socket, data, size, flags);
  if (got > 0) in_flight = false;
  return got;
}

extern "C" int epoll_wait(int descriptor, epoll_event* events, int most, int timeout) {
  static const auto real = next<int (*)(int, epoll_event*, int, int)>("epoll_wait");
  if (timeout != 0) ++wake_ups;
  return real(descriptor, events, most, timeout);
}

void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
