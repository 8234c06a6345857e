#include "network.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace zklock::test {
namespace {

constexpr const char* here = "/proc/thread-self/ns/net";

std::string address_of(std::size_t host) { return "10.0.0." + std::to_string(host + 1); }
std::string port_of(std::size_t host) { return "port" + std::to_string(host); }  // the host's port of the bridge

constexpr const char* our_mac = "02:00:00:00:01:00";  // else the bridge takes the least of its ports', and changes it

std::string why(const char* what) { return std::string{what} + ": " + std::generic_category().message(errno); }

void move_to_new_namespace() {
  if (::unshare(CLONE_NEWNET) != 0) throw NetworkUnavailable{why("a network namespace cannot be made")};
}

void run(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw NetworkUnavailable{"this did not work: " + command};
}

int open_here() {
  const int file = ::open(here, O_RDONLY | O_CLOEXEC);
  if (file < 0) throw NetworkUnavailable{why(here)};
  return file;
}

}  // namespace

Network::Network(std::size_t hosts) : own_{open_here()} {
  for (std::size_t i = 0; i < hosts; ++i) {
    move_to_new_namespace();
    hosts_.push_back(open_here());
  }
  move_to_new_namespace();
  run("ip link set lo up && ip link add bridge address " + std::string{our_mac} +
      " type bridge && ip addr add 10.0.0.100/24 dev bridge"
      " && ip link set bridge up");
  for (std::size_t i = 0; i < hosts; ++i) {
    const std::string port = port_of(i);
    run("ip link add " + port + " type veth peer name eth0 netns /proc/" + std::to_string(::getpid()) + "/fd/" +
        std::to_string(hosts_[i]) + " && ip link set " + port + " master bridge up");
    run(enter(i) + "sh -c 'ip link set lo up && ip link set eth0 up && ip addr add " + address_of(i) + "/24 dev eth0'");
  }
}

Network::~Network() {
  static_cast<void>(::setns(own_, CLONE_NEWNET));
  for (const int host : hosts_) ::close(host);
  ::close(own_);
}

std::vector<std::string> Network::addresses() const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < hosts_.size(); ++i) all.push_back(address_of(i));
  return all;
}

std::vector<std::vector<std::string>> Network::launchers() const {
  std::vector<std::vector<std::string>> all;
  for (const int host : hosts_)
    all.push_back({"nsenter", "--net=/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(host)});
  return all;
}

std::string Network::enter(std::size_t host) const {
  return "nsenter --net=/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(hosts_[host]) + " ";
}

// Off the bridge, the host's port is a link between the host and this process. On it this process has the address by
// which the host knows it.
void Network::cut_off(std::size_t host) {
  const std::string port = port_of(host);
  run("ip link set " + port + " nomaster && ip link set " + port + " address " + our_mac + " && ip route add " +
      address_of(host) + "/32 dev " + port + " src 10.0.0.100");
}

void Network::rejoin(std::size_t host) {
  const std::string port = port_of(host);
  run("ip route del " + address_of(host) + "/32 dev " + port + " && ip link set " + port + " master bridge");
}

}  // namespace zklock::test
