#include "c_client_driver.hpp"

#include "c_client_calls.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <spdlog/spdlog.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <thread>

#include <sys/eventfd.h>
#include <unistd.h>

namespace zklock {

using namespace std::chrono_literals;

thread_local CClientDriver* CClientDriver::current_ = nullptr;

namespace {

constexpr int packets_per_turn = 64;
constexpr Clock::duration first_back_off = 20ms;

/// An even list makes the library skip servers for ever (118): repeat one.
std::string odd_list(const std::vector<std::string>& servers) {
  std::string list;
  for (const std::string& server : servers) list += (list.empty() ? "" : ",") + server;
  return servers.size() % 2 == 0 ? list + "," + servers.front() : list;
}

}  // namespace

CClientDriver::CClientDriver(asio::any_io_executor executor, CClientOptions options)
    : executor_{executor},
      options_{std::move(options)},
      session_timeout_{options_.session_timeout},
      readiness_{executor, [this](int bits) { ready(bits); }},
      timer_{executor},
      random_{std::random_device{}()} {}

CClientDriver::~CClientDriver() {
  if (!handle_) return;
  readiness_.shut_down();  // so that the close cannot wait for the server (124)
  const CallScope nobody_is_called{nullptr};
  zookeeper_close(handle_);
}

void CClientDriver::start(std::weak_ptr<LinkListener> listener) {
  listener_ = std::move(listener);
  assert(readable == ZOOKEEPER_READ && writable == ZOOKEEPER_WRITE);
  const CallScope scope{this};
  zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);  // the whole process's, so not one client's to choose
  handle_ = zookeeper_init2(odd_list(options_.servers).c_str(), &Callbacks::on_session,
                            static_cast<int>(options_.session_timeout.count()), nullptr, nullptr, ZOO_NO_LOG_CLIENTENV,
                            &Callbacks::log);
  if (!handle_) throw boost::system::system_error{errno, boost::system::system_category(), "zookeeper_init2"};
  zoo_set_servers_resolution_delay(handle_, -1);  // else each turn looks names up (120)
  poke();
}

bool CClientDriver::connected() const { return handle_ && zoo_state(handle_) == ZOO_CONNECTED_STATE; }

// ---- the loop
// ------------------------------------------------------------------------------------------------------------

/// A call made outside a turn may have queued a request or lost the socket: have a turn soon.
void CClientDriver::poke() {
  if (std::exchange(poked_, true)) return;
  asio::post(executor_, [self = shared_from_this()] {
    self->poked_ = false;
    self->observe();
    self->deliver();
    self->turn();
  });
}

void CClientDriver::ready(int bits) {
  if (finished()) return;
  const auto self = shared_from_this();
  int rc = ZOK;
  bool contact = false;
  {
    const CallScope scope{this};
    int packets = 0;
    do {
      rc = zookeeper_process(handle_, bits);
      contact = contact || (rc == ZOK && (bits & readable));
      bits = readable;  // each call reads one packet at most
    } while (rc == ZOK && ++packets < packets_per_turn);
  }
  const bool failed = rc != ZOK && rc != ZNOTHING && !connected();
  observe();
  if (contact && link_ == LinkState::connected)
    if (const auto listener = listener_.lock()) listener->on_contact(Clock::now());
  if (failed) back_off();
  deliver();
  turn();
}

void CClientDriver::turn() {
  if (finished() || !handle_) return;
  if (Clock::now() < not_before_) return schedule(not_before_);
  if (connect_is_overdue()) return ready(readable | writable);

  int socket = -1;
  int interest = 0;
  timeval wait{0, 0};
  int rc = ZOK;
  {
    const CallScope scope{this};
    rc = zookeeper_interest(handle_, &socket, &interest, &wait);
  }
  observe();
  if (finished()) return;
  if (rc != ZOK) {  // the outputs mean nothing (121)
    back_off();
    schedule(not_before_);
  } else {
    const int state = zoo_state(handle_);
    // A new socket passes through other states, and through a call of interest, before the state is CONNECTED again.
    const bool unchanged = state == ZOO_CONNECTED_STATE && armed_state_ == ZOO_CONNECTED_STATE;
    armed_state_ = state;
    if (socket < 0) {
      readiness_.disarm();
    } else {
      readiness_.arm(socket, interest, unchanged);
    }
    const auto due = Clock::now() + std::chrono::seconds{wait.tv_sec} + std::chrono::microseconds{wait.tv_usec};
    schedule(connecting_since_ == Clock::time_point::max() ? due : std::min(due, connecting_since_ + connect_limit()));
  }
  if (!inbox_.empty() || !states_.empty()) poke();  // callbacks ran inside interest
}

/// Derives the link's state from the library's, which changes also without an event (117).
void CClientDriver::observe() {
  if (finished() || !handle_) return;
  const int state = zoo_state(handle_);
  if (is_unrecoverable(handle_)) return die(state);
  const bool connecting = state == ZOO_CONNECTING_STATE || state == ZOO_ASSOCIATING_STATE;
  if (!connecting) {
    connecting_since_ = Clock::time_point::max();
  } else if (connecting_since_ == Clock::time_point::max()) {
    connecting_since_ = Clock::now();
  }
  const LinkState link = state == ZOO_CONNECTED_STATE  ? LinkState::connected
                         : state == ZOO_READONLY_STATE ? LinkState::read_only
                                                       : LinkState::disconnected;
  if (link == link_) return;
  link_ = link;
  states_.push_back(link);
  if (link != LinkState::connected) return;
  failures_ = 0;
  not_before_ = {};
  const clientid_t* id = zoo_client_id(handle_);
  credentials_.id = id->client_id;
  std::copy(std::begin(id->passwd), std::end(id->passwd), credentials_.password.begin());
  session_timeout_ = std::chrono::milliseconds{zoo_recv_timeout(handle_)};
}

/// Hands over what the callbacks have queued. A turn follows, so requests made in here need no poke; if a handler
/// throws, the poke stands in for that turn.
void CClientDriver::deliver() {
  struct Guard {
    CClientDriver& driver;
    bool done = false;
    ~Guard() {
      driver.delivering_ = false;
      if (!done) driver.poke();
    }
  } guard{*this};
  delivering_ = true;
  const auto listener = listener_.lock();
  while (!states_.empty()) {
    const LinkState state = states_.front();
    states_.pop_front();
    if (listener) listener->on_link_state(state);
  }
  // What is queued meanwhile, requests that fail at once for example, waits for the next turn: nobody can keep us here.
  for (std::size_t left = inbox_.size(); left > 0 && !inbox_.empty(); --left) {
    Event event = std::move(inbox_.front());
    inbox_.pop_front();
    if (event.sink) {
      event.sink->on_reply(event.reply);
    } else {
      event.watch->on_watch_event(event.reply.error, event.type);
    }
  }
  if (!inbox_.empty()) poke();
  drop_unused_watches();
  guard.done = true;
}

/// The session is over: the library will do no more with this handle (4.6 of docs/driver.md).
void CClientDriver::die(int rc) {
  const bool refused = rc == ZOO_AUTH_FAILED_STATE;
  readiness_.disarm();
  timer_.cancel();
  states_.push_back(refused ? LinkState::auth_failed : LinkState::expired);
  end(make_error_code(refused ? Error::auth_failed : Error::session_expired));
  poke();
}

// ---- time
// ----------------------------------------------------------------------------------------------------------------

/// After the first failure the next server is tried at once; after that we wait, longer each time and never in step
/// with others (81, 118).
void CClientDriver::back_off() {
  readiness_.disarm();
  Clock::duration wait = 1ms;
  if (failures_ > 0) {
    const Clock::duration cap = std::max<Clock::duration>(session_timeout_ / 10, first_back_off);
    const auto ceiling = std::min(first_back_off * (1 << std::min(failures_ - 1, 10)), cap);
    wait = ceiling / 2 +
           std::chrono::nanoseconds{std::uniform_int_distribution<std::int64_t>{0, (ceiling / 2).count()}(random_)};
  }
  ++failures_;
  not_before_ = Clock::now() + wait;
}

/// One server that takes the connection and says nothing must not cost the session: the library itself would wait for
/// 2/3 of it (134).
Clock::duration CClientDriver::connect_limit() const {
  const std::size_t addresses = options_.servers.size() | 1;  // see odd_list
  return session_timeout_ / (2 * addresses);
}

bool CClientDriver::connect_is_overdue() {
  if (connecting_since_ == Clock::time_point::max() || Clock::now() < connecting_since_ + connect_limit()) return false;
  if (options_.logger) options_.logger->warn("zklock: a server did not finish the handshake in time, trying the next");
  connecting_since_ = Clock::time_point::max();
  readiness_.shut_down();
  return readiness_.armed();
}

/// Re-arms only for an earlier time; a timer that fires too early looks at `due_` and sleeps on: one system call less a
/// turn.
void CClientDriver::schedule(Clock::time_point due) {
  due_ = due;
  if (timer_at_ <= due_) return;
  timer_at_ = due_;
  timer_.expires_at(due_);
  timer_.async_wait([weak = weak_from_this()](error_code error) {
    if (const auto self = weak.lock(); self && !error) self->on_timer();
  });
}

void CClientDriver::on_timer() {
  timer_at_ = Clock::time_point::max();
  if (finished()) return;
  if (Clock::now() < due_) return schedule(due_);
  deliver();
  turn();
}

// ---- the end
// -------------------------------------------------------------------------------------------------------------

namespace {

/// zookeeper_close waits for the server up to 4.5 s (124), so it has a thread to itself. The thread touches neither the
/// driver nor its executor, which may be gone by then: it writes to an eventfd that the driver waits on.
void close_elsewhere(zhandle_t* handle, asio::any_io_executor executor, std::function<void()> closed) {
  const int done = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int signal = ::fcntl(done, F_DUPFD_CLOEXEC, 0);
  if (done < 0 || signal < 0) {  // out of descriptors: the close then holds up the loop, but happens
    if (done >= 0) ::close(done);
    if (signal >= 0) ::close(signal);
    zookeeper_close(handle);
    if (closed) asio::post(executor, std::move(closed));
    return;
  }
  auto waiter =
      std::make_shared<asio::posix::basic_stream_descriptor<asio::any_io_executor>>(std::move(executor), done);
  waiter->async_wait(asio::posix::descriptor_base::wait_read, [waiter, closed = std::move(closed)](error_code) {
    if (closed) closed();
  });
  std::thread{[handle, signal] {
    zookeeper_close(handle);
    ::eventfd_write(signal, 1);
    ::close(signal);
  }}.detach();
}

}  // namespace

void CClientDriver::close(CloseMode mode, error_code reason, std::function<void()> closed) {
  if (!end_) end(reason);
  if (mode == CloseMode::abortive) readiness_.shut_down();
  readiness_.disarm();
  timer_.cancel();
  poke();
  if (zhandle_t* handle = std::exchange(handle_, nullptr)) {
    close_elsewhere(handle, executor_, std::move(closed));
  } else if (closed) {
    asio::post(executor_, std::move(closed));
  }
}

}  // namespace zklock
