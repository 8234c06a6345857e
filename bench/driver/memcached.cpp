// memcached: add and delete, in its text protocol. There is no wait queue, and any client that deletes the key releases
// the lock, the holder or not.
#include "blocking_lock.hpp"

#include <stdexcept>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace zklock::bench {
namespace {

class MemcachedLock : public BlockingLock {
 public:
  MemcachedLock(const std::string& server, const std::string& key)
      : add_{"add " + key + " 0 30 1\r\n1\r\n"}, delete_{"delete " + key + "\r\n"} {
    const auto colon = server.rfind(':');
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(server.substr(colon + 1))));
    ::inet_pton(AF_INET, server.substr(0, colon).c_str(), &address.sin_addr);
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error{"no connection to memcached"};
  }
  ~MemcachedLock() override { ::close(socket_); }
  MemcachedLock(const MemcachedLock&) = delete;
  MemcachedLock& operator=(const MemcachedLock&) = delete;

  bool acquire(const Window& window) override {
    while (!try_acquire()) {
      if (window.stopping()) return false;
    }
    return true;
  }
  bool try_acquire() override { return ask(add_) == "STORED"; }
  void release() override {
    if (ask(delete_) != "DELETED") throw std::runtime_error{"the lock was lost in memcached"};
  }

 private:
  std::string_view ask(std::string_view words) {
    if (::send(socket_, words.data(), words.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(words.size()))
      throw std::runtime_error{"memcached does not take it"};
    for (std::size_t size = 0;;) {
      const auto got = ::recv(socket_, answer_ + size, sizeof answer_ - size, 0);
      if (got <= 0) throw std::runtime_error{"memcached does not answer"};
      size += static_cast<std::size_t>(got);
      if (const std::string_view all{answer_, size}; all.ends_with("\r\n")) return all.substr(0, size - 2);
    }
  }

  int socket_;
  std::string add_;
  std::string delete_;
  char answer_[256];
};

}  // namespace

LockFactory memcached_locks(const Task& task) {
  return [task](std::size_t waiter) { return std::make_unique<MemcachedLock>(task.servers, task.lock_path(waiter)); };
}

}  // namespace zklock::bench
