// Reserves a port for a server.
#pragma once

#include "descriptor.hpp"

#include <cstdint>
#include <string>

namespace zklock::testing {

/// A free TCP port of a loopback address, drawn at random unless a number is given. While this object exists, no other
/// Port of any process gets the number on that address, whether a server listens on it or not.
///
/// The port is kept by a socket that is bound and never listens. Linux lets a listener bind beside it when both have
/// SO_REUSEADDR; ZooKeeper's listener has it (NIOServerCnxnFactory.configure).
class Port {
 public:
  explicit Port(const std::string& address = "127.0.0.1", std::uint16_t wanted = 0);
  [[nodiscard]] std::uint16_t number() const noexcept { return number_; }

 private:
  void take(const std::string& address, std::uint16_t wanted);

  Descriptor socket_;
  std::uint16_t number_ = 0;
};

}  // namespace zklock::testing
