// The loop over sessions, and what callers wait for. The steps on a session are in keeper_steps.cpp, the end in
// keeper_close.cpp.
#include "keeper.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include <utility>

namespace zklock::detail {

std::shared_ptr<Keeper> Keeper::start(const ClientHandle& client, std::string path, std::string data,
                                      KeepOptions options) {
  auto keeper = std::make_shared<Keeper>(client, std::move(path), std::move(data), std::move(options));
  asio::post(client.get_executor(), [keeper] {
    const auto serial = keeper->client().get_executor();
    spawn_detached(serial, run(keeper));
    if (!keeper->options_.touch.empty()) spawn_detached(serial, touch(keeper));
  });
  return keeper;
}

Keeper::Keeper(const ClientHandle& client, std::string path, std::string data, KeepOptions options)
    : RecipeCore{client, std::move(path)},
      options_{std::move(options)},
      observers_{Observers<NodeObserver>::of(client.config().observers, client.config().logger)},
      name_{client, this->path(), options_},
      wish_{std::move(data), 1},
      node_path_{name_.node_path()},
      changed_{client.get_executor()},
      told_{client.get_executor()},
      touching_{client.get_executor()} {}

// ---- any thread

std::string Keeper::node_path() const {
  const std::lock_guard lock{mutex_};
  return node_path_;
}

std::string Keeper::data() const { return wish().data; }

Keeper::Wish Keeper::wish() const {
  const std::lock_guard lock{mutex_};
  return wish_;
}

Keeper::Wish Keeper::wish_to_try() {
  Wish wanted = wish();
  tried_ = wanted.number;
  return wanted;
}

std::uint64_t Keeper::set_data(std::string data) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock{mutex_};
    wish_.data = std::move(data);
    number = ++wish_.number;
  }
  asio::dispatch(client().get_executor(), [self = shared_from_this()] { self->changed_.happen(); });
  return number;
}

// ---- what callers wait for

/// False: the caller has cancelled.
Awaitable<bool> Keeper::told(Keeper& keeper) {
  co_await keeper.told_.wait();
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  co_return cancellation.cancelled() == asio::cancellation_type::none;
}

namespace {

error_code aborted() { return asio::error::operation_aborted; }
error_code end_of(const NodeState& state) { return state.error ? state.error : make_error_code(Error::closed); }

}  // namespace

Awaitable<error_code> Keeper::wait_present(std::shared_ptr<Keeper> self) {
  for (;;) {
    const NodeState now = self->state();
    if (now.phase == NodePhase::present) co_return error_code{};
    if (now.phase == NodePhase::ended) co_return end_of(now);
    const bool goes_on = co_await told(*self);  // not in the condition: g++ 12 would destroy it twice
    if (!goes_on) co_return aborted();
  }
}

Awaitable<error_code> Keeper::wait_written(std::shared_ptr<Keeper> self, std::uint64_t number) {
  for (;;) {
    const NodeState now = self->state();
    if (self->written_ >= number && now.phase == NodePhase::present) co_return error_code{};
    if (self->refused_ >= number) co_return self->refusal_;
    if (now.phase == NodePhase::ended) co_return end_of(now);
    const bool goes_on = co_await told(*self);
    if (!goes_on) co_return aborted();
  }
}

Awaitable<error_code> Keeper::wait_closed(std::shared_ptr<Keeper> self) {
  while (!self->cleaned_) {
    const bool goes_on = co_await told(*self);
    if (!goes_on) co_return aborted();
  }
  co_return *self->cleaned_;
}

// ---- the loop over sessions

Awaitable<void> Keeper::run(std::shared_ptr<Keeper> self) {
  self->tell_observers({});
  const error_code end = co_await self->keep();
  const error_code cleaned = co_await self->clean_up();
  if (self->claim_) self->claim_->release();
  self->claim_.reset();
  self->cleaned_ = cleaned;
  NodeState last;
  last.phase = NodePhase::ended;
  last.error = end;
  self->publish(last);
  self->touching_.happen();
  if (self->session_) co_await self->remove_late_nodes(*self->session_);
  self->link_.reset();
}

Clock::time_point Keeper::end_of_lateness(const Session& session) { return Clock::now() + 2 * session.timeout(); }

/// Returns why the loop has ended: success if it was closed.
Awaitable<error_code> Keeper::keep() {
  while (!closing_) {
    const auto session = co_await next_session();
    if (!session) co_return closing_ ? error_code{} : session.error();
    const error_code end = co_await keep_on(*session);
    if (end) co_return closing_ ? error_code{} : end;
    if (!closing_ && write_is_ambiguous_) late_until_ = end_of_lateness(*session);
  }
  co_return error_code{};
}

/// Waits until there is a connected session, or the loop is to end.
Awaitable<Result<Session>> Keeper::next_session() {
  struct Wait {
    asio::cancellation_signal give_up;
    std::optional<error_code> error;
    Session session;
  };
  const auto wait = std::make_shared<Wait>();
  client().async_session(
      path(), Deadline{},
      asio::bind_cancellation_slot(
          wait->give_up.slot(), asio::bind_executor(client().get_executor(),
                                                    [self = shared_from_this(), wait](error_code error, Session found) {
                                                      wait->error = error;
                                                      wait->session = std::move(found);
                                                      self->changed_.happen();
                                                    })));
  for (bool given_up = false; !wait->error;) {
    if (closing_ && !std::exchange(given_up, true)) wait->give_up.emit(asio::cancellation_type::terminal);
    co_await changed();
  }
  if (*wait->error) co_return *wait->error;
  co_return wait->session;
}

/// Another object of this client has the path: its node is foreign here. Returns success once the path is free.
Awaitable<error_code> Keeper::take_claim() {
  if (claim_ || !name_.is_known()) co_return error_code{};
  auto claim = PathClaim::of(client(), name_.node_path());
  for (const auto asked = std::make_shared<bool>(false); !claim->try_take();) {
    if (options_.conflict == NodeConflict::fail) co_return make_error_code(Error::name_taken);
    NodeState taken;
    taken.phase = NodePhase::taken;
    taken.owner = session_->id();
    publish(taken);
    if (!std::exchange(*asked, true))
      claim->when_released([weak = weak_from_this(), asked] {
        *asked = false;
        if (const auto self = weak.lock()) self->changed_.happen();
      });
    co_await changed();
    if (is_over(*session_)) co_return error_code{};
  }
  claim_ = std::move(claim);
  co_return error_code{};
}

// ---- the link

void Keeper::follow_link(const Session& session) {
  session_ = session;
  link_.emplace(session.states());
  await_link(session);
}

void Keeper::await_link(const Session& session) {
  link_->async_next(asio::bind_executor(client().get_executor(),
                                        [weak = weak_from_this(), session](error_code error, SessionState state) {
                                          const auto self = weak.lock();
                                          if (!self || error || !self->link_ || self->session_ != session) return;
                                          self->on_link(state);
                                          if (!is_final(state)) self->await_link(session);
                                        }));
}

void Keeper::on_link(SessionState link) {
  NodeState now = state();
  const bool was_there = now.phase == NodePhase::present || now.phase == NodePhase::suspect;
  if (was_there && is_final(link)) {
    publish({});
  } else if (was_there) {
    now.phase = link == SessionState::connected ? NodePhase::present : NodePhase::suspect;
    publish(now);
  }
  changed_.happen();
}

/// That a node is absent because it or its client is closed is no loss, of which observers would hear.
void Keeper::publish(const NodeState& state) {
  states_.publish(state);
  told_.happen();
  const bool is_end = closing_ || (session_ && session_->state() == SessionState::closed);
  if (state != told_state_ && !(is_end && state.phase == NodePhase::absent)) tell_observers(state);
}

void Keeper::tell_observers(const NodeState& state) {
  if (!observers_ || told_state_.phase == NodePhase::ended) return;
  const std::string given = client().server_path(path());
  const std::string node = node_path();
  const std::string at_server = node.empty() ? std::string{} : client().server_path(node);
  NodeEvent event;
  event.number = number_;
  event.client_id = client().client_id();
  event.path = given;
  event.node_path = at_server;
  event.session_id = session_ ? session_->id() : 0;
  event.before = std::exchange(told_state_, state);
  event.state = state;
  observers_->tell(&NodeObserver::on_node, event);
}

}  // namespace zklock::detail
