#include "place_in_line.hpp"

#include "contention.hpp"

#include <zklock/detail/steps.hpp>
#include <zklock/path.hpp>

namespace zklock {

namespace {

using Company = std::shared_ptr<const void>;  // of a coroutine, to its end

Awaitable<void> remove(Session session, std::string path, Company) {
  co_await remove_for_sure(std::move(session), std::move(path));
}

Awaitable<void> find_and_remove(Session session, ProtectedPath path, Company) {
  co_await find_and_remove(std::move(session), std::move(path));
}

}  // namespace

/// Outlives the place while its create is under way.
struct PlaceInLine::State : std::enable_shared_from_this<State> {
  enum class Phase { idle, requested, in_line, failed, kept };

  State(Session s, std::string_view directory, std::string_view m, std::string d, std::string n)
      : session{std::move(s)},
        path{directory, std::string{m} + n},
        marker{m},
        data{std::move(d)},
        mode{n.empty() ? CreateMode::ephemeral_sequential : CreateMode::ephemeral} {}

  Session session;
  ProtectedPath path;
  std::string_view marker;
  std::string data;
  CreateMode mode;
  Company company = {};
  Phase phase = Phase::idle;
  error_code error = {};
  CreateResult node = {};
  bool left = false;
  int requests = 0;
  std::weak_ptr<Timer> gate = {};  // of who waits for the answer
  std::shared_ptr<Siblings> siblings = {};
  LockKind kind = LockKind::mutex;
  std::shared_ptr<Sibling> sibling = {};
  Siblings::Moment asked_for = 0;

  void on_created(error_code outcome, CreateResult result) {
    error = outcome;
    node = std::move(result);
    phase = error ? Phase::failed : Phase::in_line;
    const auto sequence = parse_sequence(node_name(node.path), marker);
    if (!error && siblings && sequence) sibling = siblings->enter(session, kind, *sequence, node.path);
    if (const auto waiting = gate.lock()) waiting->cancel();
    if (left) leave();
  }

  void leave() {
    left = true;
    if (phase == Phase::requested) return;  // the answer comes back here
    if (sibling && phase != Phase::kept) sibling->leave(session.get_executor());
    Company leaving = std::exchange(company, nullptr);
    if (phase == Phase::in_line)
      spawn_detached(session.get_executor(), remove(session, node.path, std::move(leaving)));
    else if (phase == Phase::failed && outcome_of(error) == Outcome::ambiguous)
      spawn_detached(session.get_executor(), find_and_remove(session, path, std::move(leaving)));
  }
};

PlaceInLine::PlaceInLine(Session session, std::string directory, std::string_view marker, std::string data,
                         std::string number)
    : state_{std::make_shared<State>(std::move(session), directory, marker, std::move(data), std::move(number))} {}

PlaceInLine::~PlaceInLine() { state_->leave(); }

void PlaceInLine::stand_among(std::shared_ptr<Siblings> siblings, LockKind kind) {
  state_->siblings = std::move(siblings);
  state_->kind = kind;
}

void PlaceInLine::keep_meanwhile(std::shared_ptr<const void> thing) { state_->company = std::move(thing); }

void PlaceInLine::request() {
  state_->phase = State::Phase::requested;
  if (state_->siblings) {
    state_->asked_for = state_->siblings->now();
    state_->siblings->ask(state_->session, state_->kind);
  }
  state_->error = make_error_code(Error::connection_loss);  // what is known of it until the answer is there
  state_->session.async_create(
      state_->path.path(), state_->data, state_->mode,
      asio::bind_executor(state_->session.get_executor(), [state = state_, number = ++state_->requests](
                                                              error_code error, CreateResult result) {
        // Where a link broke unnoticed, the answer may come after the node was looked for, and asked for again.
        const bool found_already = state->phase == State::Phase::in_line || state->phase == State::Phase::kept;
        if (number == state->requests && !found_already) state->on_created(error, std::move(result));
        if (state->siblings) state->siblings->answered(state->session, state->kind);
      }));
}

Awaitable<error_code> PlaceInLine::answered() {
  const auto gate = std::make_shared<Timer>(state_->session.get_executor(), Clock::time_point::max());
  state_->gate = gate;
  if (state_->phase == State::Phase::requested) co_await gate->async_wait(use_tuple);
  const bool cancelled = state_->phase == State::Phase::requested;
  co_return cancelled ? make_error_code(asio::error::operation_aborted) : state_->error;
}

Awaitable<error_code> PlaceInLine::recover() {
  auto found = co_await find_own_node(state_->session, state_->path);
  if (!found) co_return found.error();
  if (found->path.empty()) {
    state_->phase = State::Phase::idle;  // certainly not there
    co_return make_error_code(Error::no_node);
  }
  state_->on_created({}, std::move(*found));
  co_return error_code{};
}

error_code PlaceInLine::error() const { return state_->error; }
bool PlaceInLine::is_in_line() const { return state_->phase == State::Phase::in_line; }
const CreateResult& PlaceInLine::node() const { return state_->node; }
std::string PlaceInLine::name() const { return std::string{node_name(state_->node.path)}; }

const std::shared_ptr<Sibling>& PlaceInLine::sibling() const { return state_->sibling; }
Siblings::Moment PlaceInLine::asked_for() const { return state_->asked_for; }

CreateResult PlaceInLine::keep() {
  state_->phase = State::Phase::kept;
  state_->company.reset();
  return state_->node;
}

}  // namespace zklock
