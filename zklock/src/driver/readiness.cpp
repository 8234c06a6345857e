#include "readiness.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zklock {

using Descriptor = asio::posix::basic_stream_descriptor<asio::any_io_executor>;

struct SocketReadiness::Shared {
  Shared(asio::any_io_executor executor, std::function<void(int)> callback)
      : descriptor{std::move(executor)}, ready{std::move(callback)} {}

  Descriptor descriptor;
  std::function<void(int)> ready;
  int waiting = 0;               // the bits for which a wait is under way
  std::uint64_t generation = 0;  // waits for an earlier socket carry an earlier generation
};

SocketReadiness::SocketReadiness(asio::any_io_executor executor, std::function<void(int)> ready)
    : shared_{std::make_shared<Shared>(std::move(executor), std::move(ready))} {}

void SocketReadiness::arm(int socket, int interest, bool unchanged) {
  if (polls_writable_ && !(interest & writable)) poll_anew();
  if (!unchanged || socket != socket_) {
    struct stat identity {};
    ::fstat(socket, &identity);
    if (socket_ < 0 || identity.st_dev != device_ || identity.st_ino != inode_) {
      disarm();
      ::fcntl(socket, F_SETFD, FD_CLOEXEC);                   // the library does not set it
      if (!own(::fcntl(socket, F_DUPFD_CLOEXEC, 0))) return;  // the next iteration tries again
      device_ = identity.st_dev;
      inode_ = identity.st_ino;
    }
    socket_ = socket;
  }
  if (interest & readable) wait(readable);
  if (interest & writable) wait(writable);
}

/// Asio's reactor goes on polling a descriptor for what it has been waited for once. A socket can nearly always be
/// written, so that each later wait to read would first wake the thread for nothing.
void SocketReadiness::poll_anew() {
  polls_writable_ = false;
  ++shared_->generation;
  shared_->waiting = 0;
  if (!own(shared_->descriptor.release())) socket_ = -1;  // arm() makes another duplicate
}

/// False: there is no descriptor, or no memory to wait for it. Asio keeps some for each that it could not take.
bool SocketReadiness::own(int duplicate) {
  if (duplicate < 0) return false;
  boost::system::error_code out_of_memory;
  shared_->descriptor.assign(duplicate, out_of_memory);
  if (out_of_memory) ::close(duplicate);
  return !out_of_memory;
}

void SocketReadiness::wait(int bit) {
  if (shared_->waiting & bit) return;
  shared_->waiting |= bit;
  if (bit == writable) polls_writable_ = true;
  shared_->descriptor.async_wait(
      bit == readable ? Descriptor::wait_read : Descriptor::wait_write,
      [shared = shared_, bit, generation = shared_->generation](boost::system::error_code error) {
        if (generation != shared->generation) return;
        shared->waiting &= ~bit;
        if (!error) shared->ready(bit);
      });
}

void SocketReadiness::disarm() {
  if (socket_ < 0) return;
  uncork();
  socket_ = -1;
  awaited_bytes_ = 1;
  polls_writable_ = false;
  ++shared_->generation;
  shared_->waiting = 0;
  boost::system::error_code ignored;
  shared_->descriptor.close(ignored);
}

std::ptrdiff_t SocketReadiness::peek(std::span<unsigned char> bytes) const {
  if (socket_ < 0) return -1;
  const auto count = ::recv(shared_->descriptor.native_handle(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  return count < 0 && errno != EAGAIN && errno != EINTR ? 0 : count;
}

bool SocketReadiness::has_ended() const {
  pollfd end{.fd = shared_->descriptor.native_handle(), .events = POLLRDHUP, .revents = 0};
  return socket_ >= 0 && ::poll(&end, 1, 0) > 0;
}

void SocketReadiness::await_bytes(std::size_t bytes) {
  const int wanted = static_cast<int>(bytes);
  if (socket_ < 0 || std::exchange(awaited_bytes_, wanted) == wanted) return;
  ::setsockopt(shared_->descriptor.native_handle(), SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof wanted);
}

void SocketReadiness::discard() {
  constexpr std::size_t all = 1 << 30;  // MSG_TRUNC: they are not copied
  if (socket_ >= 0)
    while (::recv(shared_->descriptor.native_handle(), nullptr, all, MSG_TRUNC | MSG_DONTWAIT) > 0) {
    }
}

int SocketReadiness::duplicate() const {
  return socket_ >= 0 ? ::fcntl(shared_->descriptor.native_handle(), F_DUPFD_CLOEXEC, 0) : -1;
}

void SocketReadiness::cork() { set_cork(1); }
void SocketReadiness::uncork() { set_cork(0); }

void SocketReadiness::set_cork(int on) {
  if (socket_ < 0 || corked_ == on) return;
  corked_ = on;
  ::setsockopt(shared_->descriptor.native_handle(), IPPROTO_TCP, TCP_CORK, &on, sizeof on);
}

void SocketReadiness::shut_down() {
  if (socket_ >= 0) ::shutdown(shared_->descriptor.native_handle(), SHUT_RDWR);
}

}  // namespace zklock
