#include "fake_driver.hpp"

#include <zklock/recipe_kit/random.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace zklock::testing::fake {

using namespace std::chrono_literals;

Driver::Driver(std::shared_ptr<World> world, asio::any_io_executor executor, DriverOptions options)
    : world_{std::move(world)},
      executor_{executor},
      options_{std::move(options)},
      timeout_{options_.session_timeout},
      attempts_{options_.reconnect_jitter, options_.history, timeout_, Clock::now(), &random_bits},
      timer_{executor} {}

Driver::~Driver() { hang_up(); }

void Driver::start(std::weak_ptr<LinkListener> listener) {
  listener_ = std::move(listener);
  wake();
}

void Driver::send(std::function<void(World&, Connection&)> message, Work work) {
  last_send_ = Clock::now();
  const std::lock_guard lock{world_->mutex};
  connection_->send(std::move(message), work);
}

/// A request for no sink: only its reply counts.
void Driver::send_without_sink(std::function<void(World&, Connection&, RequestId)> message) {
  const RequestId id = ++last_id_;
  requests_[id].sent = Clock::now();
  liveness_.on_sent(Clock::now());
  send([id, message = std::move(message)](World& world, Connection& connection) { message(world, connection, id); });
}

// ---- requests

Driver::RequestId Driver::submit(Request request, std::shared_ptr<ReplySink> sink, std::shared_ptr<WatchSink> watch) {
  const RequestId id = ++last_id_;
  Pending& pending = requests_[id];
  pending.sink = std::move(sink);
  pending.sent = Clock::now();
  pending.goes_to_leader = goes_to_leader(request.operation);
  const Place place{watch_kind(request.operation), request.path};
  const bool affordable = !watch || has_room_for(place);
  const bool watches = watch && affordable;
  if (watches) {
    pending.place = place;
    pending.watches_missing = request.operation == Operation::exists;
    pending.watch = std::move(watch);
    ++watches_[*pending.place].reads;
  }
  if (end_) {
    answer(id, Reply{.error = end_});
  } else if (phase_ != Phase::connected) {
    answer(id, Reply{.error = make_error_code(Error::not_connected)});
  } else if (!affordable) {
    answer(id, Reply{.error = make_error_code(Error::too_many_watches)});
  } else {
    const Work work = pending.goes_to_leader && request.operation != Operation::sync ? Work::write : Work::other;
    auto arrive = [request = std::move(request), id, watches](World& world, Connection& connection) {
      world.on_request(connection, request, id, watches);
    };
    liveness_.on_sent(pending.sent);
    send(std::move(arrive), work);
  }
  if (!replies_.is_delivering()) wake();
  return id;
}

/// The entry stays until the reply has come, which shows whether there is a watch to give up.
void Driver::forget(RequestId id) {
  const auto found = requests_.find(id);
  if (found == requests_.end()) return;
  found->second.sink.reset();
  found->second.watch.reset();
}

void Driver::answer(RequestId id, Reply reply) {
  auto taken = requests_.extract(id);
  if (!taken) return;
  Pending& pending = taken.mapped();
  if (pending.place) {
    Watched& watched = watches_[*pending.place];
    --watched.reads;
    if (!reply.error || (pending.watches_missing && reply.error == Error::no_node)) {
      watched.is_set = true;
      watched.on_missing = static_cast<bool>(reply.error);
      const bool waits = std::ranges::find(watched.sinks, pending.watch) != watched.sinks.end();
      if (pending.watch && !waits) watched.sinks.push_back(std::move(pending.watch));
    }
    if (watched.unused()) unused_.push_back(*pending.place);
  }
  if (pending.sink) replies_.add_reply(std::move(pending.sink), std::move(reply));
}

// ---- watches

/// As WatchTable.
bool Driver::has_room_for(const Place& place) const {
  constexpr std::size_t more = 4;
  std::size_t bytes = place.path.size() + more;
  for (const auto& [other, watched] : watches_) bytes += other.path.size() + more;
  return bytes <= options_.max_buffer / 2 || watches_.contains(place);
}

void Driver::fire(const Place& place, WatchEventType type) {
  const auto found = watches_.find(place);
  if (found == watches_.end()) return;
  Watched& watched = found->second;
  watched.is_set = false;
  for (auto& sink : std::exchange(watched.sinks, {})) replies_.add_event(std::move(sink), place, type);
  if (watched.unused()) watches_.erase(found);
}

void Driver::forget_watch(const WatchSink& watch, const Place& place) {
  if (const auto found = watches_.find(place); found != watches_.end())
    std::erase_if(found->second.sinks, [&](const auto& sink) { return sink.get() == &watch; });
  drop_if_unused(place);
  if (!replies_.is_delivering()) wake();
}

void Driver::drop_if_unused(const Place& place) {
  const auto found = watches_.find(place);
  if (found == watches_.end() || !found->second.unused()) return;
  const bool is_set = found->second.is_set;
  watches_.erase(found);
  if (is_set && phase_ == Phase::connecting) greeted_.push_back(place);
  if (is_set && phase_ == Phase::connected && !end_) unwatch(place);
}

void Driver::unwatch(const Place& place) {
  send_without_sink(
      [place](World& world, Connection& connection, RequestId id) { world.on_unwatch(connection, place, id); });
}

// ---- messages from the ensemble

void Driver::on_accepted(const SessionCredentials& credentials, std::chrono::milliseconds timeout) {
  phase_ = Phase::connected;
  credentials_ = credentials;
  timeout_ = timeout;
  last_heard_ = Clock::now();
  liveness_.on_sent(last_heard_);
  liveness_.on_handshake(attempts_.since());
  if (close_mode_) return send([](World& world, Connection& connection) { world.on_close(connection); });
  for (const Place& place : std::exchange(greeted_, {}))
    if (!watches_.contains(place)) unwatch(place);
  enter(LinkState::connected);
}

/// Only these replies move the zxid by which SetWatches finds what was missed (zookeeper_process).
void Driver::on_reply(RequestId id, Reply reply, std::int64_t zxid) {
  if (reply.error == Error::session_closed_require_sasl_auth) return on_auth_failed();
  last_zxid_ = zxid;
  last_heard_ = Clock::now();
  if (const auto found = requests_.find(id); found != requests_.end()) {
    liveness_.on_reply(found->second.sent);
    attempts_.on_answer();
    if (!reply.error && found->second.goes_to_leader) liveness_.on_acknowledged(found->second.sent);
  }
  answer(id, std::move(reply));
}

/// The real driver does not see it.
void Driver::on_pong() { last_heard_ = Clock::now(); }

void Driver::on_event(WatchEventType type, const std::string& path) {
  last_heard_ = Clock::now();
  if (type != WatchEventType::node_children_changed) fire({WatchKind::data, path}, type);
  if (type == WatchEventType::node_children_changed || type == WatchEventType::node_deleted)
    fire({WatchKind::children, path}, type);
}

void Driver::on_expired() { on_terminated(LinkState::expired, make_error_code(Error::session_expired)); }
void Driver::on_auth_failed() { on_terminated(LinkState::auth_failed, make_error_code(Error::auth_failed)); }
void Driver::on_closed() { finish(); }
void Driver::on_broken() { lose(make_error_code(Error::connection_loss)); }
/// The real driver gives the connection up, so that its library does not read it (server_frames.hpp).
void Driver::on_lie() { on_broken(); }

// ---- what the core is told

void Driver::wake() {
  if (std::exchange(woken_, true)) return;
  asio::post(executor_, [self = shared_from_this()] {
    self->woken_ = false;
    self->deliver();
    self->on_time();
  });
}

void Driver::enter(LinkState link) {
  if (link == link_) return;
  link_ = link;
  replies_.add_state(link);
}

void Driver::deliver() {
  constexpr auto any_number = std::numeric_limits<std::size_t>::max();
  replies_.deliver(
      listener_.lock(), liveness_.take_ack(), any_number, [this] { wake(); },
      [this] {
        for (const Place& place : std::exchange(unused_, {})) drop_if_unused(place);
        schedule();
      });
}

}  // namespace zklock::testing::fake
