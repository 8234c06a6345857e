// The end of a session's connection.
#include "block_signals.hpp"
#include "c_client_calls.hpp"
#include "c_client_driver.hpp"
#include "c_client_multi.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace zklock {

namespace {

using namespace std::chrono_literals;
using Multis = std::vector<std::shared_ptr<MultiCall>>;

constexpr auto close_limit = 5s;  // the library's own is 4.5 s (124)

/// Reads what the server still sends until it ends the connection, as it does when it has ended the session. A socket
/// that is closed with something unread resets the connection, and the request to end the session is lost with
/// whatever the server has not read by then (125).
void see_off(int socket, Clock::time_point deadline) {
  std::array<char, 65536> answers{};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd readable{.fd = socket, .events = POLLIN, .revents = 0};
    if (left <= 0ms || ::poll(&readable, 1, static_cast<int>(left.count())) <= 0) break;
    if (::recv(socket, answers.data(), answers.size(), 0) <= 0) break;
  }
  ::close(socket);
}

using EventDescriptor = asio::posix::basic_stream_descriptor<asio::any_io_executor>;

/// Asio may wake a wait that nothing has happened for: an event of a descriptor closed before, in whose place it keeps
/// this one. So what has happened is read, not believed.
void when_signalled(std::shared_ptr<EventDescriptor> descriptor, std::function<void()> action) {
  EventDescriptor& awaited = *descriptor;
  awaited.async_wait(asio::posix::descriptor_base::wait_read, [descriptor = std::move(descriptor),
                                                               action = std::move(action)](error_code error) mutable {
    eventfd_t count = 0;
    const bool in_vain = !error && ::eventfd_read(descriptor->native_handle(), &count) != 0 && errno == EAGAIN;
    if (in_vain) return when_signalled(std::move(descriptor), std::move(action));
    action();
  });
}

/// Waits for the server, so it has a thread to itself. The thread touches neither the driver nor its executor, which
/// may be gone by then: it writes to an eventfd that the driver waits on. `socket`: another descriptor of the
/// library's, if the server is to be heard to its end, or -1.
void close_elsewhere(zhandle_t* handle, int socket, Multis multis, asio::any_io_executor executor,
                     std::function<void()> closed) {
  const int done = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int signal = ::fcntl(done, F_DUPFD_CLOEXEC, 0);
  if (done < 0 || signal < 0) {  // out of descriptors: the close then holds up the loop, but happens
    if (done >= 0) ::close(done);
    if (signal >= 0) ::close(signal);
    if (socket >= 0) ::close(socket);
    zookeeper_close(handle);
    asio::post(executor, std::move(closed));
    return;
  }
  when_signalled(std::make_shared<EventDescriptor>(std::move(executor), done), std::move(closed));
  const BlockSignals blocked;
  const auto close_and_tell = [handle, socket, signal, multis = std::move(multis)] {
    const auto deadline = Clock::now() + close_limit;
    zookeeper_close(handle);
    if (socket >= 0) see_off(socket, deadline);
    ::eventfd_write(signal, 1);
    ::close(signal);
  };
  try {
    std::thread{close_and_tell}.detach();
  } catch (const std::system_error&) {  // out of threads: as above
    close_and_tell();
  }
}

}  // namespace

void CClientDriver::close(CloseMode mode, error_code reason, std::function<void()> closed) {
  if (closed) when_closed_.push_back(std::move(closed));
  if (!end_) end(reason);
  poke();  // what has ended is to be delivered
  if (mode != CloseMode::when_reachable) return let_go(mode);
  if (stopped_) return let_go(CloseMode::abortive);
  if (connected()) return let_go(CloseMode::graceful);
  retiring_ = true;
}

void CClientDriver::abandon() {
  if (!end_) end(make_error_code(Error::closing));
  stop();
  while (!inbox_.empty()) deliver();
  when_closed_.clear();
}

/// Gives the handle back to the library.
void CClientDriver::let_go(CloseMode mode) {
  const int socket = mode == CloseMode::graceful && connected() ? readiness_.duplicate() : -1;
  if (mode == CloseMode::abortive) readiness_.shut_down();
  stop();
  retiring_ = false;
  auto closed = [self = shared_from_this()] { self->on_closed(); };
  if (zhandle_t* handle = std::exchange(handle_, nullptr)) {
    ++closes_;
    close_elsewhere(handle, socket, std::move(unanswered_multis_), executor_, std::move(closed));
  } else if (closes_ == 0) {
    asio::post(executor_, std::move(closed));
  }
}

void CClientDriver::on_closed() {
  closes_ = 0;
  for (const auto& closed : std::exchange(when_closed_, {})) closed();
}

}  // namespace zklock
