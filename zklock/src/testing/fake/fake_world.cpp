#include "fake_world.hpp"

#include "fake_driver.hpp"

#include <algorithm>

namespace zklock::testing::fake {

using std::chrono::milliseconds;

namespace {

/// The first moment after `time` that is a whole number of steps after `begin`.
Clock::time_point next_on_grid(Clock::time_point time, Clock::time_point begin, Clock::duration step) {
  return begin + ((time - begin) / step + 1) * step;
}

void say_broken(Driver& driver) { driver.on_broken(); }

}  // namespace

World::World(FakeEnsembleOptions with_options, asio::any_io_executor executor, std::unique_ptr<Loop> loop)
    : options{with_options},
      loop_{std::move(loop)},
      executor_{executor},
      begin_{Clock::now()},
      wall_begin_{std::chrono::floor<milliseconds>(std::chrono::system_clock::now())},
      tree_{options.extended_types, options.refuses_exists},
      timer_{executor} {}

WallTime World::wall_time() const { return wall_begin_ + std::chrono::floor<milliseconds>(Clock::now() - begin_); }

// ---- connections

World::Session& World::make_session(milliseconds asked) {
  ++counters.sessions_made;
  tree_.take_number();
  const std::int64_t id = (std::int64_t{1} << 56) + ++sessions_made_;
  Session& session = sessions_[id];
  session.credentials.id = id;
  for (std::size_t i = 0; i < session.credentials.password.size(); ++i)
    session.credentials.password[i] = static_cast<char>(sessions_made_ * 31 + static_cast<int>(i) + 1);
  session.timeout = std::clamp(asked, options.tick * 2, options.tick * 20);
  return session;
}

void World::on_greeting(Connection& connection, const Greeting& greeting) {
  if (suffers(greeting.credentials.id, connection, "connect", greeting.server, false)) return;
  if (refusing || shut_) return connection.break_off(say_broken);
  const auto known = sessions_.find(greeting.credentials.id);
  if (greeting.credentials.id != 0 &&
      (known == sessions_.end() || known->second.credentials.password != greeting.credentials.password))
    return connection.break_off([](Driver& driver) { driver.on_expired(); });
  Session& session = known == sessions_.end() ? make_session(greeting.timeout) : known->second;
  if (const auto former = std::exchange(session.connection, connection.shared_from_this()))
    former->break_off(say_broken);
  ++counters.connections;
  session.watches.clear();
  session.last_heard = Clock::now();
  session.server = greeting.server;
  connection.session = session.credentials.id;
  if (holding) connection.hold(true);
  schedule(end_of(session));
  if (suffers(session.credentials.id, connection, "connect", greeting.server, true)) return;

  connection.bring([credentials = session.credentials, timeout = session.timeout](Driver& driver) {
    driver.on_accepted(credentials, timeout);
  });
  for (const AuthInfo& info : greeting.auth) {
    const auto identity = authenticate(info);
    if (!identity) return connection.bring([](Driver& driver) { driver.on_auth_failed(); });
    connection.identities.push_back(*identity);
  }
  watch_again(session, greeting);
}

/// DataTree::setWatches.
void World::watch_again(Session& session, const Greeting& greeting) {
  for (const OldWatch& old : greeting.watches) {
    const Tree::Node* node = std::as_const(tree_).find(old.place.path);
    const bool is_data = old.place.kind == WatchKind::data;
    if (node && is_data && old.on_missing) {
      tell(*session.connection, WatchEventType::node_created, old.place.path);
    } else if (!node && !old.on_missing) {
      tell(*session.connection, WatchEventType::node_deleted, old.place.path);
    } else if (node && is_data && node->stat.mzxid > greeting.last_zxid) {
      tell(*session.connection, WatchEventType::node_data_changed, old.place.path);
    } else if (node && !is_data && node->stat.pzxid > greeting.last_zxid) {
      tell(*session.connection, WatchEventType::node_children_changed, old.place.path);
    } else {
      session.watches.insert(old.place);
    }
  }
}

void World::on_gone(Connection& connection) {
  connection.break_off();
  const auto found = sessions_.find(connection.session);
  if (found == sessions_.end() || found->second.connection.get() != &connection) return;
  found->second.connection.reset();
  found->second.watches.clear();
}

void World::cut(std::int64_t session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  found->second.watches.clear();
  if (const auto connection = std::exchange(found->second.connection, nullptr)) connection->break_off(say_broken);
}

// ---- calls

/// Counts the call and shows it to the hook. True: a fault has broken its connection or ended its session.
bool World::suffers(std::int64_t session, Connection& connection, std::string_view operation, const std::string& path,
                    bool applied) {
  if (!applied) ++counters.calls;
  if (!hook) return false;
  const FakeFault fault = hook({counters.calls, session, operation, path, applied});
  last_fault_ = fault;
  if (fault == FakeFault::none) return false;
  if (fault == FakeFault::lie) {
    connection.bring([](Driver& driver) { driver.on_lie(); });
    return true;
  }
  if (fault == FakeFault::cut || fault == FakeFault::late) cut(session);
  if (fault == FakeFault::expire) end_session(session);
  connection.break_off(say_broken);
  return true;
}

void World::on_request(Connection& connection, const Request& request, std::uint64_t id, bool watches) {
  const auto found = sessions_.find(connection.session);
  if (found == sessions_.end()) return;
  const std::int64_t session = found->first;
  found->second.last_heard = Clock::now();
  const std::string_view name = to_string(request.operation);
  const Identities identities = connection.identities;
  if (suffers(session, connection, name, request.path, false)) {
    if (last_fault_ == FakeFault::late) perform_late(request, session, identities);
    return;
  }
  if (!admits(connection)) return turn_away(connection, id);
  Reply reply = perform(request, {session, connection.identities});
  const bool sets = !reply.error || (request.operation == Operation::exists && reply.error == Error::no_node);
  const WatchKind kind = watch_kind(request.operation);
  if (watches && sets) found->second.watches.insert({kind, request.path});
  if (suffers(session, connection, name, request.path, true)) return;
  connection.bring(
      [id, reply = std::move(reply), zxid = tree_.zxid()](Driver& driver) { driver.on_reply(id, reply, zxid); });
}

Reply World::perform(const Request& request, const Caller& caller) {
  switch (request.operation) {
    case Operation::exists:
    case Operation::get_data:
    case Operation::get_children:
    case Operation::get_acl:
    case Operation::sync: return tree_.read(request, caller);
    default: break;
  }
  Changes changes;
  Reply reply = tree_.write(request, caller, wall_time(), changes);
  commit(changes);
  return reply;
}

/// Nobody is answered.
void World::perform_late(const Request& request, std::int64_t session, Identities identities) {
  const auto timer = std::make_shared<Timer>(executor_, Clock::now() + options.lateness);
  timer->async_wait([timer, weak = weak_from_this(), request, session, identities = std::move(identities)](error_code) {
    const auto self = weak.lock();
    if (!self) return;
    const std::lock_guard lock{self->mutex};
    if (!self->shut_ && self->sessions_.contains(session)) self->perform(request, {session, identities});
  });
}

/// A client without credentials has only its address.
bool World::admits(const Connection& connection) const {
  return !options.demands_credentials || connection.identities.size() > 1;
}

/// The server's AuthenticationHelper: an answer, and the end of the session.
void World::turn_away(Connection& connection, std::uint64_t id) {
  const std::int64_t session = connection.session;
  connection.break_off([id, zxid = tree_.zxid()](Driver& driver) {
    driver.on_reply(id, {.error = make_error_code(Error::session_closed_require_sasl_auth)}, zxid);
  });
  end_session(session);
}

void World::on_ping(Connection& connection, std::optional<std::uint64_t> id) {
  const auto found = sessions_.find(connection.session);
  if (found == sessions_.end()) return;
  found->second.last_heard = Clock::now();
  ++counters.pings;
  if (!id) return connection.bring([](Driver& driver) { driver.on_pong(); });
  if (!admits(connection)) return turn_away(connection, *id);
  connection.bring([id = *id, zxid = tree_.zxid()](Driver& driver) { driver.on_reply(id, {}, zxid); });
}

void World::on_unwatch(Connection& connection, const Place& place, std::uint64_t id) {
  const auto found = sessions_.find(connection.session);
  if (found == sessions_.end()) return;
  found->second.last_heard = Clock::now();
  Reply reply;
  if (found->second.watches.erase(place) == 0) reply.error = make_error_code(Error::no_watcher);
  connection.bring([id, reply, zxid = tree_.zxid()](Driver& driver) { driver.on_reply(id, reply, zxid); });
}

void World::on_close(Connection& connection) {
  const auto self = connection.shared_from_this();
  if (suffers(connection.session, connection, "close", "", false)) return;
  if (const auto found = sessions_.find(connection.session); found != sessions_.end()) {
    sessions_.erase(found);
    Changes changes;
    tree_.end_session(connection.session, changes);
    commit(std::move(changes));
  }
  if (suffers(connection.session, connection, "close", "", true)) return;
  connection.bring([](Driver& driver) { driver.on_closed(); });
}

// ---- watches

void World::commit(Changes changes) {
  for (const Change& change : changes)
    for (auto& [id, session] : sessions_) fire(session, change);
  if (committed) committed();
  expect_reaping();
}

/// Fires one event, even if a deletion fires two watches.
void World::fire(Session& session, const Change& change) {
  if (session.watches.empty()) return;
  std::size_t fired = 0;
  if (change.type != WatchEventType::node_children_changed)
    fired += session.watches.erase({WatchKind::data, change.path});
  if (change.type == WatchEventType::node_children_changed || change.type == WatchEventType::node_deleted)
    fired += session.watches.erase({WatchKind::children, change.path});
  if (fired > 0 && session.connection && may_hear(*session.connection, change))
    tell(*session.connection, change.type, change.path);
}

bool World::may_hear(const Connection& connection, const Change& change) const {
  if (!options.hides_events) return true;
  const Tree::Node* node = tree_.find(change.path);
  return may(connection.identities, Permission::read, node ? node->acl : change.acl);
}

void World::tell(Connection& connection, WatchEventType type, const std::string& path) {
  ++counters.watch_events;
  connection.bring([type, path](Driver& driver) { driver.on_event(type, path); });
}

// ---- time

Clock::time_point World::end_of(const Session& session) const {
  return next_on_grid(session.last_heard + session.timeout, begin_, options.tick);
}

void World::expect_reaping() {
  const auto since = tree_.next_reaping();
  if (!since) return;
  const Clock::time_point due = *since == WallTime::min() ? Clock::now() : begin_ + (*since - wall_begin_);
  reap_at_ = std::min(reap_at_, next_on_grid(std::max(due, Clock::now()), begin_, options.container_check));
  schedule(reap_at_);
}

void World::schedule(Clock::time_point due) {
  if (shut_ || timer_at_ <= due) return;
  timer_at_ = due;
  timer_.expires_at(due);
  timer_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (!self || error) return;
    const std::lock_guard lock{self->mutex};
    self->timer_at_ = Clock::time_point::max();
    self->on_time();
  });
}

void World::on_time() {
  if (shut_) return;
  const auto now = Clock::now();
  for (const std::int64_t id : session_ids())
    if (end_of(sessions_.at(id)) <= now) end_session(id);
  if (reap_at_ <= now) {
    reap_at_ = Clock::time_point::max();
    Changes changes;
    tree_.reap(wall_time(), changes);
    commit(std::move(changes));
  } else {
    schedule(reap_at_);
  }
  for (const auto& [id, session] : sessions_) schedule(end_of(session));
}

void World::end_session(std::int64_t session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  ++counters.sessions_expired;
  const auto connection = found->second.connection;
  sessions_.erase(found);
  Changes changes;
  tree_.end_session(session, changes);
  commit(std::move(changes));
  if (connection) connection->break_off(say_broken);
}

void World::shut_down() {
  shut_ = true;
  timer_.cancel();
  for (const std::int64_t id : session_ids()) cut(id);
}

// ---- inspection

std::vector<std::int64_t> World::session_ids() const {
  std::vector<std::int64_t> ids;
  for (const auto& [id, session] : sessions_) ids.push_back(id);
  return ids;
}

FakeSession World::describe(std::int64_t session) const {
  const Session& found = sessions_.at(session);
  return {session, found.timeout, found.connection != nullptr, found.server};
}

std::vector<FakeWatch> World::watches() const {
  std::vector<FakeWatch> all;
  for (const auto& [id, session] : sessions_)
    for (const Place& place : session.watches) all.push_back({id, place.kind, place.path});
  return all;
}

}  // namespace zklock::testing::fake
