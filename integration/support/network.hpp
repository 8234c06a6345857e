// A network of hosts that can be cut off from each other.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace zklock::test {

/// This process may not make network namespaces, or lacks the programs `ip` and `nsenter` to set them up.
struct NetworkUnavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Some hosts, and this process, on one bridge. Each host is a network namespace without a name. It lasts as long as
/// this object and the processes in it, so nothing is left behind, however the process ends.
///
/// While an object lives, the thread that made it, and the threads and processes that it starts, have no other network.
class Network {
 public:
  /// Throws NetworkUnavailable.
  explicit Network(std::size_t hosts);
  ~Network();
  Network(const Network&) = delete;

  [[nodiscard]] std::vector<std::string> addresses() const;
  /// Words that start a program on each host.
  [[nodiscard]] std::vector<std::vector<std::string>> launchers() const;

  /// The host and the other hosts cannot reach each other any more; this process still reaches the host.
  void cut_off(std::size_t host);
  void rejoin(std::size_t host);

 private:
  [[nodiscard]] std::string enter(std::size_t host) const;

  int own_ = -1;  // the namespace that this process came from
  std::vector<int> hosts_;
};

}  // namespace zklock::test
