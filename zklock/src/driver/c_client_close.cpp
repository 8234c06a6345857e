// The end of a session's connection.
#include "block_signals.hpp"
#include "c_client_calls.hpp"
#include "c_client_driver.hpp"
#include "c_client_multi.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <atomic>
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

constexpr std::size_t reply_size = 20;  // of a reply without a body: length, xid, zxid, error

/// Whether the bytes are the server's reply to the request to end the session. Its number is unknown, but the server
/// sends nothing after it. Any reply without a body looks the same. So there is a wrong result if a server stops, or
/// loses the link, after the reply to a delete made just before and before this one: then the session's nodes stay
/// until the session timeout has passed. Only the library knows how many replies are due before, and where in the
/// stream they begin.
bool is_acknowledgement(const std::array<unsigned char, reply_size>& reply) {
  const bool has_no_body = reply[0] == 0 && reply[1] == 0 && reply[2] == 0 && reply[3] == 16;
  const bool answers_a_request = reply[4] < 0x80;  // events and pings have negative numbers
  return has_no_body && answers_a_request &&
         std::all_of(reply.begin() + 16, reply.end(), [](auto b) { return b == 0; });
}

/// Reads until the server ends the connection, as it does when it has ended the session. True if its last reply
/// acknowledges the end. The socket is read to its end because closing it with unread bytes resets the connection: then
/// the request to end the session is lost with everything else that the server has not read [F125].
bool drain_until_eof(int socket, Clock::time_point deadline) {
  std::array<unsigned char, reply_size> last{};
  std::array<unsigned char, 65536> answers{};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd readable{.fd = socket, .events = POLLIN, .revents = 0};
    if (left <= 0ms || ::poll(&readable, 1, static_cast<int>(left.count())) <= 0) return false;
    const auto count = ::recv(socket, answers.data(), answers.size(), 0);
    if (count <= 0) return count == 0 && is_acknowledgement(last);
    const auto fresh = std::min(static_cast<std::size_t>(count), last.size());
    std::shift_left(last.begin(), last.end(), static_cast<std::ptrdiff_t>(fresh));
    std::copy_n(answers.begin() + count - static_cast<std::ptrdiff_t>(fresh), fresh,
                last.end() - static_cast<std::ptrdiff_t>(fresh));
  }
}

using EventDescriptor = asio::posix::basic_stream_descriptor<asio::any_io_executor>;

/// Asio may wake a wait without a cause: by an event of a descriptor that was closed before, and whose internal state
/// Asio uses again for this one. So the eventfd is read to find out.
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

/// Waits for the server, so it has its own thread. The thread touches neither the driver nor its executor, which may be
/// gone by then: it writes to an eventfd that the driver waits for.
void close_elsewhere(std::function<void()> close, asio::any_io_executor executor, std::function<void()> closed) {
  const int done = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int signal = ::fcntl(done, F_DUPFD_CLOEXEC, 0);
  if (done < 0 || signal < 0) {  // out of descriptors: the close then holds up the loop, but happens
    if (done >= 0) ::close(done);
    if (signal >= 0) ::close(signal);
    close();
    asio::post(executor, std::move(closed));
    return;
  }
  when_signalled(std::make_shared<EventDescriptor>(std::move(executor), done), std::move(closed));
  const BlockSignals blocked;
  auto close_and_tell = [close = std::move(close), signal]() mutable {
    close();
    close = {};  // before the driver is told
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

struct CClientDriver::Farewell {
  explicit Farewell(int s) : socket{s} {}
  ~Farewell() {
    if (socket >= 0) ::close(socket);
  }
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;

  const int socket;  // a duplicate of the library's socket, to be read to its end, or -1
  std::atomic<bool> heard{false};
};

void CClientDriver::close(CloseMode mode, error_code reason, std::function<void()> closed) {
  if (closed) when_closed_.push_back(std::move(closed));
  if (!end_) end(reason);
  wake();  // delivers the requests that ended
  if (mode == CloseMode::graceful) hurry();
  if (closing_ == Closing::done) return asio::post(executor_, [self = shared_from_this()] { self->finish(); });
  attempts_.part();
  if (closing_ == Closing::telling) return mode == CloseMode::abortive ? cut_short() : void();
  closing_ = Closing::looking;
  const bool has_session = credentials_.id != 0 && !stopped_;
  if (mode == CloseMode::abortive || !has_session) return close_handle(CloseMode::abortive);
  if (connected()) return close_handle(CloseMode::graceful);
}

void CClientDriver::abandon() {
  if (!end_) end(make_error_code(Error::closing));
  readiness_.shut_down();  // or the destructor waits for the server [F124]
  stop();
  close_limit_.cancel();
  while (replies_.has_replies()) deliver();
  when_closed_.clear();
}

/// Returns the handle to the library.
void CClientDriver::close_handle(CloseMode mode) {
  const bool tells = mode == CloseMode::graceful && connected();
  if (!tells) close_by_ = Clock::now();  // no further search for a server
  farewell_ = std::make_shared<Farewell>(tells ? readiness_.duplicate() : -1);
  if (mode == CloseMode::abortive) readiness_.shut_down();
  stop();
  closing_ = Closing::telling;
  auto closed = [self = shared_from_this()] { self->on_handle_closed(); };
  zhandle_t* handle = std::exchange(handle_, nullptr);
  if (!handle) return asio::post(executor_, std::move(closed));
  auto close = [handle, farewell = farewell_, multis = std::move(unanswered_multis_)] {
    const auto deadline = Clock::now() + zklock::close_limit;
    zookeeper_close(handle);
    if (farewell->socket >= 0) farewell->heard = drain_until_eof(farewell->socket, deadline);
  };
  unanswered_multis_.clear();
  close_elsewhere(std::move(close), executor_, std::move(closed));
}

/// If the connection was lost before the server's reply, the state of the session is unknown: the driver connects again
/// and looks for it by its id.
void CClientDriver::on_handle_closed() {
  const bool heard = std::exchange(farewell_, nullptr)->heard;
  if (heard || Clock::now() >= close_by_) return finish();
  closing_ = Closing::looking;
  stopped_ = false;
  link_ = LinkState::disconnected;
  attempts_.end();
  armed_state_ = 0;
  back_off(ConnectAttempts::Failure::other);
  wake();
}

/// Sets a limit for the close: no back-off, and no handshake with one server, may take all of it.
void CClientDriver::hurry() {
  if (close_by_ != Clock::time_point::max()) return;
  attempts_.hurry(Clock::now());
  close_by_ = Clock::now() + zklock::close_limit;
  close_limit_.expires_at(close_by_);
  close_limit_.async_wait([weak = weak_from_this()](error_code error) {
    if (const auto self = weak.lock(); self && !error) self->cut_short();
  });
}

void CClientDriver::cut_short() {
  if (closing_ == Closing::looking) return close_handle(CloseMode::abortive);
  close_by_ = Clock::now();
  if (farewell_ && farewell_->socket >= 0) ::shutdown(farewell_->socket, SHUT_RDWR);
}

void CClientDriver::finish() {
  closing_ = Closing::done;
  close_limit_.cancel();
  if (replies_.has_replies())  // the ended requests first
    return asio::post(executor_, [self = shared_from_this()] {
      self->deliver();
      self->finish();
    });
  for (const auto& closed : std::exchange(when_closed_, {})) closed();
}

}  // namespace zklock
