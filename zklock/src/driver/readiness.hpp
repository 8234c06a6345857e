// Waiting for the C client's socket with Asio.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include <sys/types.h>

namespace zklock {

namespace asio = boost::asio;

/// The C client's numbers ZOOKEEPER_WRITE and ZOOKEEPER_READ.
enum Readiness : int { writable = 1, readable = 2 };

/// Waits for a duplicate of the library's socket, never for the socket itself. The library may close the socket inside
/// any call, and its number may belong to another file a moment later. The duplicate is replaced when the number refers
/// to another socket.
///
/// Threads: the executor's.
class SocketReadiness {
 public:
  /// `ready(bits)` is called when the socket can be read or written, once for each arm().
  SocketReadiness(asio::any_io_executor executor, std::function<void(int)> ready);
  ~SocketReadiness() { disarm(); }
  SocketReadiness(const SocketReadiness&) = delete;
  SocketReadiness& operator=(const SocketReadiness&) = delete;

  /// Waits for `interest`, a combination of Readiness. `unchanged`: the caller knows that it is the same socket as in
  /// the last call.
  void arm(int socket, int interest, bool unchanged);
  /// Forgets the socket. Waits under way do not call back.
  void disarm();
  /// While corked, data wait in the kernel; uncorking sends them in as few packets as possible. The kernel sends them
  /// after 200 ms in any case.
  void cork();
  void uncork();
  /// Cuts the connection; the library finds it broken at its next call.
  void shut_down();
  /// A duplicate of the socket, which the caller must close; -1 if there is no socket.
  [[nodiscard]] int duplicate() const;

  /// Drops what has arrived and is unread.
  void discard();
  /// Copies the next bytes to be read, which stay unread, and returns how many there are. 0: nothing will follow, since
  /// the connection has ended or broken; negative: nothing has arrived.
  [[nodiscard]] std::ptrdiff_t peek(std::span<unsigned char> bytes) const;
  /// Whether the other side has ended the connection, or it has broken.
  [[nodiscard]] bool has_ended() const;
  /// From now on the socket counts as readable when so many bytes have arrived, or nothing more will.
  void await_bytes(std::size_t bytes);

  [[nodiscard]] bool armed() const noexcept { return socket_ >= 0; }

 private:
  void wait(int bit);
  void poll_anew();
  [[nodiscard]] bool own(int duplicate);
  void set_cork(int on);

  struct Shared;  // outlives this object in the handlers of waits under way
  std::shared_ptr<Shared> shared_;
  int socket_ = -1;
  int corked_ = 0;
  int awaited_bytes_ = 1;
  bool polls_writable_ = false;  // the descriptor was waited for to be written
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace zklock
