// File descriptors with an owner, and their input and output with a deadline.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <netinet/in.h>

namespace zklock::testing {

using Deadline = std::chrono::steady_clock::time_point;

[[nodiscard]] inline Deadline after(std::chrono::milliseconds delay) {
  return std::chrono::steady_clock::now() + delay;
}

/// Owns a descriptor and closes it.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) noexcept : number_{number} {}
  Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset();
    number_ = std::exchange(other.number_, -1);
    return *this;
  }
  ~Descriptor() { reset(); }

  [[nodiscard]] int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  void reset() noexcept;

 private:
  int number_ = -1;
};

/// Waits for one of poll's events, or for an error, which the next call on the descriptor reports. False: the deadline
/// passed first.
[[nodiscard]] bool wait_ready(const Descriptor& descriptor, short events, Deadline deadline);

/// Sends all bytes on a socket, without SIGPIPE.
void send_all(const Descriptor& socket, std::string_view bytes, Deadline deadline);

/// Receives up to `most` bytes from a socket; empty at its end.
[[nodiscard]] std::string receive_some(const Descriptor& socket, std::size_t most, Deadline deadline);

/// Throws std::invalid_argument if the address is not a numeric IPv4 address.
[[nodiscard]] sockaddr_in socket_address(const std::string& address, std::uint16_t port);

/// Throws a std::system_error for errno.
[[noreturn]] void throw_errno(const char* what);

}  // namespace zklock::testing
