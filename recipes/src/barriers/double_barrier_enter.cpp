#include "double_barrier_member.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/flight.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <set>
#include <vector>

namespace zklock::detail {

namespace {

using Names = std::vector<std::string>;

constexpr const char* withdrawn = "withdrawn";
constexpr const char* joined_late = "late";

/// Deletes the node at its end, unless a membership has taken it.
class Entering {
 public:
  Entering(std::shared_ptr<const DoubleBarrierCore> barrier, Session session)
      : node_{std::move(barrier), std::move(session)} {}
  ~Entering() {
    if (is_requested_) remove_in_background(node_);
  }
  Entering(const Entering&) = delete;
  Entering& operator=(const Entering&) = delete;

  [[nodiscard]] const MemberNode& node() const noexcept { return node_; }
  [[nodiscard]] const Session& session() const noexcept { return node_.session; }
  [[nodiscard]] const DoubleBarrierCore& barrier() const noexcept { return *node_.barrier; }
  [[nodiscard]] std::string path_of(const std::string& name) const { return join_path(barrier().path(), name); }
  [[nodiscard]] bool is_requested() const noexcept { return is_requested_; }
  void request() noexcept { is_requested_ = true; }
  void lost() noexcept { node_.was_lost = true; }
  [[nodiscard]] BarrierMembership into_membership(BarrierRound round) {
    is_requested_ = false;
    return BarrierMembership{std::make_shared<BarrierMember>(std::move(node_), round)};
  }

  std::int64_t czxid = 0;
  BarrierRound late_round{};        // the round that it has asked to join late
  std::set<std::string> discarded;  // members whose check failed: they are gone, or have withdrawn

 private:
  MemberNode node_;
  bool is_requested_ = false;
};

struct Seen {
  std::optional<Stat> ready;
  Watch change;
  Names members;
};

/// Reads ready, and lists, unless that makes no difference.
Awaitable<Result<Seen>> look(const Entering& own) {
  for (;;) {
    Seen seen;
    auto [error, ready, change] = co_await own.session().async_exists_and_watch(own.barrier().ready(), use_tuple);
    if (!error) {
      seen.ready = ready;
      seen.change = std::move(change);
      if (ready && ready->mzxid > own.czxid) co_return seen;
      auto [unlisted, listed] = co_await own.session().async_get_children(own.barrier().path(), use_tuple);
      error = unlisted;
      seen.members = members_of(std::move(listed.names));
    }
    if (!error) co_return seen;
    if (is_retryable(error)) error = co_await pause_before_retry(own.session());
    if (error) co_return error;
  }
}

/// Creates the node, reads ready and lists in one flight; and the directory, if it is missing.
Awaitable<Result<Seen>> create_and_look(Entering& own) {
  const Session& session = own.session();
  for (int rounds_left = max_rounds;;) {
    const Flight<CreateResult> creating{session.get_executor(), 1};
    const Flight<std::optional<Stat>, Watch> reading{session.get_executor(), 1};
    own.request();
    session.async_create(own.node().path, "", CreateMode::ephemeral, creating.handler(0));
    session.async_exists_and_watch(own.barrier().ready(), reading.handler(0));
    auto [unlisted, listed] = co_await session.async_get_children(own.barrier().path(), use_tuple);
    if (const error_code cancelled = co_await reading.wait()) co_return cancelled;
    if (const error_code cancelled = co_await creating.wait()) co_return cancelled;
    auto& [error, node] = creating.outcomes().front();
    auto& [unread, ready, change] = reading.outcomes().front();
    if (error == Error::node_exists) {  // by an earlier try, whose reply was lost
      auto [unknown, stat] = co_await session.async_exists(own.node().path, use_tuple);
      error = unknown;
      if (stat) node.stat = *stat;
      if (!unknown && !stat) error = make_error_code(Error::no_node);
    }
    if (!error) {
      own.czxid = node.stat.czxid;
      if (unread || unlisted) co_return co_await look(own);
      co_return Seen{ready, std::move(change), members_of(std::move(listed.names))};
    }
    if (outcome_of(error) == Outcome::ambiguous) own.lost();
    if (error == Error::no_node && --rounds_left > 0) {
      error = co_await create_containers(session, own.barrier().path());
      if (error == Error::no_node) error = {};  // an ancestor was deleted again: another round
    } else if (is_retryable(error)) {
      error = co_await pause_before_retry(session);
    }
    if (error) co_return error;
  }
}

/// Looks for a member that is older than ready; an empty name: ready is left over.
Awaitable<Result<std::string>> find_older(const Entering& own, const Seen& seen) {
  for (std::size_t begin = 0; begin < seen.members.size();) {
    const std::size_t size = std::min(seen.members.size() - begin, max_flight);
    const Flight<std::optional<Stat>> looking{own.session().get_executor(), size};
    for (std::size_t i = 0; i < size; ++i)
      own.session().async_exists(own.path_of(seen.members[begin + i]), looking.handler(i));
    error_code error = co_await looking.wait();
    if (error) co_return error;
    for (std::size_t i = 0; i < size; ++i) {
      const auto& [unread, stat] = looking.outcomes()[i];
      if (unread) error = unread;
      if (!unread && stat && is_joinable(*stat, *seen.ready)) co_return seen.members[begin + i];
    }
    if (!error) begin += size;
    if (is_retryable(error)) error = co_await pause_before_retry(own.session());
    if (error) co_return error;
  }
  co_return std::string{};
}

/// The number of the operation of a transaction that has failed; their number if none has.
std::size_t failed_part(const TransactionResults& results) {
  const auto failed = std::ranges::find_if(
      results, [](const TransactionResult& each) { return each.error && each.error != Error::rolled_back; });
  return static_cast<std::size_t>(failed - results.begin());
}

/// Joins that member's round late. Gives no round if that cannot be any more: look again. A try whose reply is lost is
/// repeated until it is answered: what is refused once is refused for ever, so no late copy of it is carried out.
Awaitable<Result<std::optional<BarrierRound>>> join_late(Entering& own, std::string older, Stat ready) {
  own.late_round = {ready.mzxid, true};
  for (;;) {
    Transaction join;
    join.set_data(own.node().path, joined_late, 0)
        .check(own.path_of(older), 0)
        .check(own.barrier().ready(), ready.version);
    auto [error, results] = co_await own.session().async_commit(std::move(join), use_tuple);
    const bool was_done_before = error == Error::bad_version && failed_part(results) == 0;
    if (!error || was_done_before) co_return own.late_round;
    if (error == Error::bad_version || (error == Error::no_node && failed_part(results) > 0)) co_return std::nullopt;
    if (is_retryable(error)) error = co_await pause_before_retry(own.session());
    if (error) co_return error;
  }
}

/// Opens the round, if all that it counts are there. Gives no round if that cannot be: look again.
Awaitable<Result<std::optional<BarrierRound>>> open(Entering& own, Names counted, std::optional<Stat> ready) {
  Transaction opening;
  opening.check(own.node().path, 0);
  for (const std::string& name : counted) opening.check(own.path_of(name), 0);
  if (!ready) opening.create(own.barrier().ready(), "");
  opening.set_data(own.barrier().ready(), "", ready ? ready->version : 0);  // its reply has the round's number
  auto [error, results] = co_await own.session().async_commit(std::move(opening), use_tuple);
  if (!error) co_return BarrierRound{results.back().stat.mzxid};
  const std::size_t failed = failed_part(results);
  if (error == Error::bad_version && failed == 0) co_return own.late_round;
  const bool is_refused = error == Error::no_node || error == Error::bad_version || error == Error::node_exists;
  if (is_refused && failed > 0) {
    if (failed <= counted.size()) own.discarded.insert(counted[failed - 1]);
    co_return std::nullopt;
  }
  if (is_retryable(error)) error = co_await pause_before_retry(own.session());
  if (error) co_return error;
  co_return std::nullopt;
}

/// The members to count besides the own one: those that were not found to be gone.
Names others(Entering& own, const Names& members) {
  std::erase_if(own.discarded, [&](const std::string& name) { return !std::ranges::binary_search(members, name); });
  Names counted;
  const std::string_view own_name = node_name(own.node().path);
  for (const std::string& name : members)
    if (name != own_name && !own.discarded.contains(name)) counted.push_back(name);
  return counted;
}

/// Enters on one session: gives the round when it is in. Error::no_node: an operator has deleted the own node.
Awaitable<Result<BarrierRound>> enter_on(Entering& own, bool try_once) {
  auto seen = co_await create_and_look(own);
  for (const std::size_t quantity = own.barrier().quantity();;) {
    if (!seen) co_return seen.error();
    Names counted = others(own, seen->members);
    EntryStep step = entry_step(seen->ready, own.czxid, 1 + counted.size(), quantity);
    if (step == EntryStep::in) co_return BarrierRound{seen->ready->mzxid};
    if (!std::ranges::binary_search(seen->members, node_name(own.node().path)))
      co_return make_error_code(Error::no_node);
    if (step == EntryStep::look) {
      const auto older = co_await find_older(own, *seen);
      if (!older) co_return older.error();
      step = entry_step_at_left_over(1 + counted.size(), quantity);
      if (!older->empty()) {
        const auto joined = co_await join_late(own, *older, *seen->ready);
        if (!joined) co_return joined.error();
        if (*joined) co_return **joined;
        seen = co_await look(own);
        continue;
      }
    }
    bool is_opened = false;
    if (step == EntryStep::open) {
      counted.resize(quantity - 1);
      const auto opened = co_await open(own, std::move(counted), seen->ready);
      if (!opened) co_return opened.error();
      if (*opened) co_return **opened;
    } else {
      if (try_once) co_return make_error_code(Error::timed_out);
      const auto [ended, event] = co_await seen->change.async_wait(use_tuple);
      if (ended) co_return ended;
      is_opened = event.type != WatchEventType::node_deleted;
    }
    seen = co_await look(own);
    // A member of Kazoo's that leaves deletes `ready` at once.
    if (seen && is_opened && !seen->ready) co_return BarrierRound{BarrierRound::unknown};
  }
}

/// The time is up: withdraws, so that no later round counts this member, and tells whether an earlier one has.
Awaitable<Result<BarrierRound>> withdraw(const Entering& own) {
  for (;;) {
    const auto [unconnected, session] = co_await own.barrier().client().async_session(own.barrier().path(), use_tuple);
    if (unconnected == Error::not_connected) co_return make_error_code(Error::connection_loss);
    if (unconnected) co_return unconnected;
    if (session != own.session()) co_return make_error_code(Error::session_expired);
    const Flight<Stat> withdrawing{session.get_executor(), 1};
    session.async_set_data(own.node().path, withdrawn, 0, withdrawing.handler(0));
    const auto [unread, ready] = co_await session.async_exists(own.barrier().ready(), use_tuple);
    error_code error = co_await withdrawing.wait();
    if (error) co_return error;
    auto& [refused, stat] = withdrawing.outcomes().front();
    error = refused;
    if (refused == Error::bad_version) {  // an earlier try has done it; or it has joined late
      auto [unknown, node] = co_await session.async_get_data(own.node().path, use_tuple);
      if (!unknown && node.data == joined_late) co_return own.late_round;
      error = unknown;
      stat = node.stat;
    }
    if (error == Error::no_node) {  // never made, or deleted by an operator
      stat.czxid = own.czxid;
      stat.mzxid = own.czxid == 0 ? 0 : INT64_MAX;
      error = {};
    }
    if (!error) error = unread;
    if (!error) {
      const auto round = round_before(stat, ready);
      if (round) co_return *round;
      co_return make_error_code(Error::timed_out);
    }
    if (is_retryable(error)) error = co_await pause_before_retry(session);
    if (error) co_return error;
  }
}

/// The body was cancelled while it was not waiting.
Awaitable<Result<BarrierRound>> enter_or_abort(Entering& own, bool try_once) {
  try {
    co_return co_await enter_on(own, try_once);
  } catch (const boost::system::system_error& error) {
    co_return error.code();
  }
}

Awaitable<void> remove_late(Session session, std::string path) {
  constexpr int looks = 4;
  for (int look = 0; look < looks; ++look) {
    Timer timer{session.get_executor(), session.timeout() / looks};
    const auto [cancelled] = co_await timer.async_wait(use_tuple);
    if (cancelled || is_final(session.state())) co_return;
    zklock::remove_in_background(session, path);
  }
}

}  // namespace

void remove_in_background(const MemberNode& node) {
  zklock::remove_in_background(node.session, node.path);
  expect_late_node(node);
}

void expect_late_node(const MemberNode& node) {
  if (node.was_lost) spawn_detached(node.session.get_executor(), remove_late(node.session, node.path));
}

Awaitable<Result<BarrierMembership>> enter(std::shared_ptr<const DoubleBarrierCore> barrier, Limits limits) {
  const auto is_overdue = [limits] { return limits.deadline && Clock::now() >= *limits.deadline; };
  for (RetryLoop loop{barrier->client(), "enter", barrier->path(), limits.deadline};;) {
    const auto session = co_await loop.session();
    if (!session) co_return session.error();
    Entering own{barrier, *session};
    auto round = co_await enter_or_abort(own, limits.try_once);
    if (!round &&
        (round.error() == Error::timed_out || (round.error() == asio::error::operation_aborted && is_overdue()))) {
      co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
      round = co_await withdraw(own);
    }
    if (round) co_return own.into_membership(*round);
    const error_code error = round.error();
    if (is_overdue() || (!may_try_again(error) && error != Error::no_node)) co_return error;
    if (const error_code final = co_await loop.next(error))
      co_return final == asio::error::operation_aborted&& is_overdue() ? make_error_code(Error::timed_out) : final;
  }
}

}  // namespace zklock::detail
