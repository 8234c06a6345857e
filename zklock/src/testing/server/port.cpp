#include "port.hpp"

#include <cerrno>
#include <fstream>
#include <random>
#include <stdexcept>
#include <vector>

#include <sys/socket.h>

namespace zklock::testing {
namespace {

constexpr int lowest = 10'000;
constexpr int highest = 65'535;

// The kernel gives ports of its own range to outgoing connections, also while the test server is stopped.
std::vector<std::uint16_t> candidates() {
  int first = 0;
  int last = 0;
  std::ifstream{"/proc/sys/net/ipv4/ip_local_port_range"} >> first >> last;
  std::vector<std::uint16_t> ports;
  for (int port = lowest; port <= highest; ++port)
    if (port < first || port > last) ports.push_back(static_cast<std::uint16_t>(port));
  if (ports.size() < 100) ports.clear();
  for (int port = lowest; ports.size() < 100; ++port) ports.push_back(static_cast<std::uint16_t>(port));
  return ports;
}

Descriptor new_socket() {
  Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!socket) throw_errno("socket");
  return socket;
}

void allow_reuse(const Descriptor& socket) {
  const int on = 1;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) throw_errno("setsockopt");
}

bool bind_to(const Descriptor& socket, const sockaddr_in& address) {
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return true;
  if (errno != EADDRINUSE && errno != EACCES) throw_errno("bind to a loopback address");
  return false;
}

}  // namespace

Port::Port(const std::string& address, std::uint16_t wanted) {
  if (wanted != 0) {
    take(address, wanted);
    return;
  }
  const auto ports = candidates();
  std::random_device random;
  std::uniform_int_distribution<std::size_t> index{0, ports.size() - 1};
  for (int attempt = 0; attempt < 200; ++attempt) {
    socket_ = new_socket();
    number_ = ports[index(random)];
    if (!bind_to(socket_, socket_address(address, number_))) continue;
    // Only after the bind: without the option, binding fails on a port that another process uses.
    allow_reuse(socket_);
    return;
  }
  throw std::runtime_error{"no free port on " + address};
}

void Port::take(const std::string& address, std::uint16_t wanted) {
  socket_ = new_socket();
  number_ = wanted;
  allow_reuse(socket_);  // also while connections of an earlier server are still closing
  if (!bind_to(socket_, socket_address(address, number_)))
    throw std::runtime_error{"port " + std::to_string(wanted) + " of " + address + " is taken, or not allowed"};
}

}  // namespace zklock::testing
