#include "descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace zklock::testing {

void Descriptor::reset() noexcept {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

bool wait_ready(const Descriptor& descriptor, short events, Deadline deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd request{descriptor.get(), events, 0};
    const int count = ::poll(&request, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000)));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) throw_errno("poll");
    if (std::chrono::steady_clock::now() >= deadline) return false;
  }
}

void send_all(const Descriptor& socket, std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait_ready(socket, POLLOUT, deadline)) throw std::runtime_error{"send: nobody reads at the other end"};
    } else if (errno != EINTR) {
      throw_errno("send");
    }
  }
}

std::string receive_some(const Descriptor& socket, std::size_t most, Deadline deadline) {
  std::string bytes(most, '\0');
  for (;;) {
    if (!wait_ready(socket, POLLIN, deadline)) throw std::runtime_error{"receive: no answer in time"};
    const auto received = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (received >= 0) {
      bytes.resize(static_cast<std::size_t>(received));
      return bytes;
    }
    if (errno != EINTR && errno != EAGAIN) throw_errno("receive");
  }
}

sockaddr_in socket_address(const std::string& address, std::uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &result.sin_addr) != 1)
    throw std::invalid_argument{"not a numeric IPv4 address: " + address};
  return result;
}

void throw_errno(const char* what) { throw std::system_error{errno, std::generic_category(), what}; }

}  // namespace zklock::testing
