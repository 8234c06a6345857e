#include "c_client_driver.hpp"

#include "c_client_calls.hpp"
#include "c_client_multi.hpp"

#include <zklock/recipe_kit/random.hpp>

#include <boost/asio/post.hpp>
#include <spdlog/spdlog.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <span>

namespace zklock {

using namespace std::chrono_literals;

thread_local CClientDriver* CClientDriver::current_ = nullptr;

namespace {

constexpr int packets_per_iteration = 64;
constexpr std::size_t replies_per_iteration = 64;

}  // namespace

CClientDriver::CClientDriver(asio::any_io_executor executor, DriverOptions options)
    : executor_{executor},
      options_{std::move(options)},
      session_timeout_{options_.session_timeout},
      watches_{options_.max_buffer / 2},
      readiness_{executor, [this](int bits) { ready(bits); }},
      timer_{executor},
      attempts_{options_.reconnect_jitter, options_.history, session_timeout_, Clock::now(), &random_bits},
      close_limit_{executor} {}

CClientDriver::~CClientDriver() {
  if (!handle_) return;
  readiness_.shut_down();  // so that the close cannot wait for the server [F124]
  const CallScope nobody_is_called{nullptr};
  zookeeper_close(handle_);
}

void CClientDriver::start(std::weak_ptr<LinkListener> listener) {
  listener_ = std::move(listener);
  wake();
}

bool CClientDriver::connected() const { return handle_ && zoo_state(handle_) == ZOO_CONNECTED_STATE; }

// ---- the loop

/// A call outside an iteration may have queued a request or lost the socket: posts an iteration.
void CClientDriver::wake() {
  if (std::exchange(woken_, true)) return;
  asio::post(executor_, [self = shared_from_this()] {
    self->woken_ = false;
    self->observe();
    self->deliver();
    self->iterate();
  });
}

void CClientDriver::ready(int bits, ConnectAttempts::Failure failure) {
  if (stopped_) return;
  const auto self = shared_from_this();
  const int rc = process(bits);
  const bool failed = rc != ZOK && rc != ZNOTHING && !connected();
  observe();
  if (failed) back_off(failure);
  deliver();
  iterate();
}

/// Reads what has arrived, up to a limit, packet by packet.
int CClientDriver::process(int bits) {
  const CallScope scope{this};
  int rc = ZOK;
  for (int packets = 0; rc == ZOK && packets < packets_per_iteration; ++packets) {
    if ((bits & readable) && !may_read()) bits &= ~readable;
    if (bits == 0) return ZNOTHING;
    rc = zookeeper_process(handle_, bits);
    if (bits & readable) inside_frame_ = rc == ZNOTHING;
    bits = readable;  // each call reads one packet at most
  }
  return rc;
}

/// Whether the library may read what has arrived. Of a frame that it has begun to read it gets the rest. No peer may
/// make it abort the process: instead of bytes that it does not check, it finds its connection ended.
bool CClientDriver::may_read() {
  const int state = zoo_state(handle_);
  if (state == ZOO_CONNECTING_STATE) return true;  // it asks the socket whether it is connected
  std::array<unsigned char, judged_bytes> buffer{};
  FrameJudgement judgement;
  for (bool has_ended = false;;) {
    const auto count = readiness_.peek(buffer);
    const bool begins = state == ZOO_ASSOCIATING_STATE || !inside_frame_;
    if (count <= 0 || !begins) return count >= 0;
    const std::span<const unsigned char> bytes{buffer.data(), static_cast<std::size_t>(count)};
    judgement = state == ZOO_ASSOCIATING_STATE ? judge_handshake(bytes, credentials_.id != 0) : judge(bytes);
    readiness_.await_bytes(std::max<std::size_t>(judgement.bytes, 1));
    if (judgement.verdict != FrameVerdict::wait || has_ended) break;
    has_ended = readiness_.has_ended();
    if (!has_ended) return false;
    // The rest will not come, unless it came just now: looks again.
  }
  if (judgement.verdict == FrameVerdict::refuse)
    give_up_connection("what it sends makes no sense; is it a ZooKeeper server?");
  return true;
}

FrameJudgement CClientDriver::judge(std::span<const unsigned char> bytes) {
  const Pending* const due = unanswered_.empty() ? nullptr : requests_.find(unanswered_.front());
  const FrameJudgement judgement = judge_frame(bytes, due ? std::optional{due->form} : std::nullopt);
  if (judgement.verdict != FrameVerdict::pass || !due || !due->multi || !is_success(bytes)) return judgement;
  std::vector<unsigned char> whole(std::min(size_of_frame(bytes), largest_judged_frame));
  const auto count = readiness_.peek(whole);
  if (count <= 0) return judgement;  // it has just been broken
  return judge_transaction({whole.data(), static_cast<std::size_t>(count)}, due->multi->operations());
}

/// The library finds the connection ended.
void CClientDriver::give_up_connection(std::string_view why) {
  log_line(why);
  note_trouble(why);
  cause_is_known_ = true;
  readiness_.shut_down();
  readiness_.discard();
}

bool CClientDriver::awaits_heartbeat() const { return !end_ && connected() && requests_.size() == 0; }

/// The heartbeat is a read that every server answers by itself, whatever it may tell of the node.
void CClientDriver::iterate() {
  if (awaits_heartbeat() && Clock::now() >= liveness_.heartbeat_due(session_timeout_))
    submit({.operation = Operation::exists, .path = "/"}, {}, {});
  readiness_.uncork();
  if (stopped_) return;
  if (const auto not_before = attempts_.not_before(); Clock::now() < not_before) return schedule(not_before);
  if (!handle_) open();
  if (!handle_) {
    if (options_.logger)
      options_.logger->error("zklock: session={:#x} the ZooKeeper client cannot be set up: errno {}",
                             static_cast<std::uint64_t>(credentials_.id), errno);
    back_off(ConnectAttempts::Failure::other);
    return schedule(attempts_.not_before());
  }
  if (connect_is_overdue()) return ready(readable | writable, ConnectAttempts::Failure::overdue);
  if (servers_changed_ && !connected() && !tries_listed_server()) move_to_new_servers();

  int socket = -1;
  int interest = 0;
  Clock::time_point due;
  const int rc = ask_interest(socket, interest, due);
  observe();
  if (stopped_) return;
  if (rc != ZOK) {  // the outputs are undefined [F121]
    back_off(ConnectAttempts::Failure::other);
    schedule(attempts_.not_before());
  } else {
    const int state = zoo_state(handle_);
    // A new socket passes through other states, and a call of zookeeper_interest, before the state is CONNECTED again.
    const bool unchanged = state == ZOO_CONNECTED_STATE && armed_state_ == ZOO_CONNECTED_STATE;
    armed_state_ = state;
    if (socket < 0) {
      readiness_.disarm();
    } else {
      readiness_.arm(socket, interest, unchanged);
    }
    if (attempts_.is_under_way()) due = std::min(due, connect_overdue_at());
    if (awaits_heartbeat()) due = std::min(due, liveness_.heartbeat_due(session_timeout_));
    schedule(due);
  }
  if (!replies_.is_empty()) wake();  // callbacks ran inside zookeeper_interest
  stay_awake();
}

/// An executor that has work to do checks its sockets without waiting.
void CClientDriver::stay_awake() {
  if (awake_ || requests_.size() == 0 || Clock::now() >= liveness_.last_sent() + options_.busy_poll) return;
  awake_ = true;
  asio::post(executor_, [self = shared_from_this()] {
    self->awake_ = false;
    if (!self->stopped_) self->stay_awake();
  });
}

int CClientDriver::ask_interest(int& socket, int& interest, Clock::time_point& due) {
  timeval wait{0, 0};
  const CallScope scope{this};
  const int rc = zookeeper_interest(handle_, &socket, &interest, &wait);
  due = Clock::now() + std::chrono::seconds{wait.tv_sec} + std::chrono::microseconds{wait.tv_usec};
  return rc;
}

/// Derives the link's state from the library's, which also changes without an event [F117].
void CClientDriver::observe() {
  if (stopped_ || !handle_) return;
  const int state = zoo_state(handle_);
  if (is_refused_) return on_terminated(ZOO_AUTH_FAILED_STATE);
  if (is_unrecoverable(handle_)) return on_terminated(state);
  const auto handshake_began = attempts_.since();
  if (state != ZOO_CONNECTING_STATE && state != ZOO_ASSOCIATING_STATE) {
    attempts_.end();
  } else if (!attempts_.is_under_way()) {
    attempts_.begin(Clock::now());
  }
  const LinkState link = state == ZOO_CONNECTED_STATE  ? LinkState::connected
                         : state == ZOO_READONLY_STATE ? LinkState::read_only
                                                       : LinkState::disconnected;
  if (link == link_) return;
  link_ = link;
  inside_frame_ = false;
  replies_.add_state(link);
  if (link != LinkState::connected) return;
  liveness_.on_sent(Clock::now());
  if (handshake_began != ConnectAttempts::never) liveness_.on_handshake(handshake_began);
  const clientid_t* id = zoo_client_id(handle_);
  credentials_.id = id->client_id;
  std::copy(std::begin(id->passwd), std::end(id->passwd), credentials_.password.begin());
  session_timeout_ = std::chrono::milliseconds{zoo_recv_timeout(handle_)};
  if (closing_ == Closing::looking) close_handle(CloseMode::graceful);
}

/// Delivers what the callbacks have queued. An iteration follows, or a wake replaces it.
void CClientDriver::deliver() {
  replies_.deliver(
      listener_.lock(), liveness_.take_ack(), replies_per_iteration, [this] { wake(); },
      [this] { drop_unused_watches(); });
}

/// The session is over: the library does nothing more with this handle (docs/driver.md 4.6).
void CClientDriver::on_terminated(int rc) {
  const bool refused = rc == ZOO_AUTH_FAILED_STATE;
  replies_.add_state(refused ? LinkState::auth_failed : LinkState::expired);
  if (!end_) {
    attempts_.on_session_over();
    end(make_error_code(refused ? Error::auth_failed : Error::session_expired));
  }
  stop();
  wake();
  if (closing_ == Closing::looking) close_handle(CloseMode::abortive);  // there is nothing left to close at the server
}

void CClientDriver::stop() {
  stopped_ = true;
  readiness_.disarm();
  timer_.cancel();
  timer_at_ = Clock::time_point::max();
}

// ---- time

/// Re-arms only for an earlier time. A timer that fires too early checks `due_` and waits again. That saves a system
/// call per iteration.
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
  if (stopped_) return;
  if (Clock::now() < due_) return schedule(due_);
  deliver();
  iterate();
}

}  // namespace zklock
