#include "raw_session.hpp"

#include <stdexcept>

#include <poll.h>

namespace zklock::bench {

void check_raw(int code, const char* what) {
  if (code != ZOK) throw std::runtime_error{std::string{what} + ": " + zerror(code)};
}

RawSession::RawSession(const std::string& servers, std::chrono::milliseconds timeout) {
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  handle_ = zookeeper_init(servers.c_str(), nullptr, static_cast<int>(timeout.count()), nullptr, nullptr, 0);
  if (handle_ == nullptr) throw std::runtime_error{"zookeeper_init has failed"};
  zoo_set_servers_resolution_delay(handle_, -1);  // otherwise it looks up the servers' names at every iteration
  wait_connected();
}

RawSession::~RawSession() { zookeeper_close(handle_); }

RawSession::Wish RawSession::interest(std::chrono::milliseconds& limit) {
  int descriptor = -1;
  int wanted = 0;
  timeval wait{};
  check_raw(zookeeper_interest(handle_, &descriptor, &wanted, &wait), "zookeeper_interest");
  limit = std::min(limit, std::chrono::milliseconds{wait.tv_sec * 1000 + wait.tv_usec / 1000 + 1});
  const int events = ((wanted & ZOOKEEPER_READ) != 0 ? POLLIN : 0) | ((wanted & ZOOKEEPER_WRITE) != 0 ? POLLOUT : 0);
  return {descriptor, static_cast<short>(events)};
}

void RawSession::process(short events) {
  int happened =
      ((events & (POLLIN | POLLHUP)) != 0 ? ZOOKEEPER_READ : 0) | ((events & POLLOUT) != 0 ? ZOOKEEPER_WRITE : 0);
  while (happened != 0) {
    const int code = zookeeper_process(handle_, happened);
    if (code == ZNOTHING) return;
    check_raw(code, "zookeeper_process");
    happened = ZOOKEEPER_READ;
  }
}

void RawSession::wait_connected() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (zoo_state(handle_) != ZOO_CONNECTED_STATE) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error{"no connection"};
    std::chrono::milliseconds limit{100};
    const Wish wish = interest(limit);
    pollfd request{wish.descriptor, wish.events, 0};
    ::poll(&request, 1, static_cast<int>(limit.count()));
    process(request.revents);
  }
}

void RawSession::create_directory(const std::string& path) {
  int left = 0;
  const auto made = [](int, const char*, const void* data) { --*static_cast<int*>(const_cast<void*>(data)); };
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    ++left;
    check_raw(zoo_acreate(handle_, path.substr(0, slash).c_str(), nullptr, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT,
                          made, &left),
              "zoo_acreate");
    if (slash == std::string::npos) break;
  }
  while (left > 0) {
    std::chrono::milliseconds limit{100};
    const Wish wish = interest(limit);
    pollfd request{wish.descriptor, wish.events, 0};
    ::poll(&request, 1, static_cast<int>(limit.count()));
    process(request.revents);
  }
}

}  // namespace zklock::bench
