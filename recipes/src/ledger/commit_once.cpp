#include "blocking_call.hpp"
#include "commit.hpp"
#include "ledger.hpp"
#include "slot_record.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/timer.hpp>

#include <algorithm>
#include <optional>

namespace zklock {

using namespace std::chrono_literals;

namespace detail {

namespace {

/// One transaction, from its first sending until it is settled. Its caller is told before that if it cancels, or if
/// there is no connection when its time is up; it is then settled in the background, so that its slot is of use again.
/// The names of the steps are those of test/models/ledger.py.
///
/// Threads: the serial executor.
class Once : public std::enable_shared_from_this<Once> {
 public:
  Once(OnceCore core, Transaction work, Handler<Committed> handler)
      : core_{std::move(core)}, work_{std::move(work)}, handler_{std::move(handler)} {}

  void begin() {
    const asio::any_io_executor serial = core_->client().get_executor();
    auto slot = asio::get_associated_cancellation_slot(handler_);
    if (slot.is_connected())
      slot.assign([serial, weak = weak_from_this()](asio::cancellation_type type) {
        if (type == asio::cancellation_type::none) return;
        asio::post(serial, [weak] {  // behind the start, which may still be queued
          if (const auto self = weak.lock()) self->give_up(asio::error::operation_aborted, true);
        });
      });
    asio::dispatch(serial, [self = shared_from_this(), serial] {
      self->deadline_ = after(self->core_->client().config().operation_timeout);
      self->timer_.emplace(serial, *self->deadline_);
      self->timer_->async_wait([weak = std::weak_ptr{self}](error_code cancelled) {
        const auto once = weak.lock();
        if (once && !cancelled) once->give_up(make_error_code(Error::timed_out), !once->is_connected());
      });
      spawn_detached(serial, run(self));
    });
  }

 private:
  [[nodiscard]] bool is_connected() const {
    const Session session = core_->client().session(path());
    return session && session.state() == SessionState::connected;
  }
  [[nodiscard]] const std::string& path() const { return core_->path(); }
  /// Some request of the transaction may be carried out still, or may have been.
  [[nodiscard]] bool is_ambiguous() const noexcept { return copies_ > 0; }

  /// Nothing is sent for the caller any more. `at_once`: it is told now, if it may not be told for certain.
  void give_up(error_code why, bool at_once) {
    if (!given_up_) given_up_ = why;
    if (!at_once && (is_ambiguous() || is_sent_)) return;
    const bool is_cancelled = why == asio::error::operation_aborted;
    tell(Committed{is_cancelled || !(is_ambiguous() || is_sent_) ? why : ambiguous_error()});
  }
  [[nodiscard]] error_code ambiguous_error() const {
    return lost_ && outcome_of(lost_) == Outcome::ambiguous ? lost_ : make_error_code(Error::connection_loss);
  }

  void tell(Committed committed) {
    if (!handler_) return;
    timer_.reset();
    Handler<Committed> handler{std::move(handler_)};
    const error_code error = committed.error;
    if (error == asio::error::operation_aborted) return std::move(handler)(error, {});
    std::move(handler)({}, std::move(committed));
  }

  [[nodiscard]] Transaction whole() const {
    Transaction whole;
    whole.set_data(slot_.path, done_mark(slot_.version), slot_.version);  // first: ahead of what may fail
    for (const auto& each : work_.operations()) whole.add(each);
    return whole;
  }

  /// Those that the server would have given, as far as they are known.
  [[nodiscard]] TransactionResults results_by_ledger() const {
    TransactionResults results;
    for (const auto& each : work_.operations()) {
      const bool is_named = each.kind == Transaction::Kind::create && !is_sequential(each.mode);
      results.push_back({{}, is_named ? each.path : std::string{}, {}});
    }
    return results;
  }

  // ---- the way of the transaction

  static Awaitable<void> run(std::shared_ptr<Once> self) {
    self->ledger_ = Ledger::of(self->core_->client());
    self->slot_ = co_await Ledger::take(self->ledger_, self->core_->client().get_executor());
    Session session;
    RetryLoop loop{self->core_->client(), "commit_once", self->path(), self->deadline_};
    for (std::optional<error_code> pause;;) {
      if (pause) {
        const error_code final = co_await self->rest(loop, *pause);
        if (final) co_return self->end(Committed{final}, session);
        pause.reset();
      }
      auto next = co_await self->find_session(loop);
      if (!next) co_return self->end(Committed{self->is_ambiguous() ? self->ambiguous_error() : next.error()}, session);
      session = *next;
      auto step = co_await self->try_once(session);
      if (step.settled) co_return self->end(std::move(*step.settled), session);
      pause = step.retry;
    }
  }

  /// What follows a request: an end, or another one, after a pause if there was a retryable error.
  struct Step {
    std::optional<Committed> settled{};
    std::optional<error_code> retry{};

    Step() = default;
    explicit Step(Committed committed) : settled{std::move(committed)} {}
    explicit Step(error_code retryable) : retry{retryable} {}
  };

  Awaitable<Step> try_once(Session session) {
    if (is_over() && !is_ambiguous()) co_return Step{refused()};
    if (!slot_) co_return co_await make(session);
    if (must_look_) {
      auto step = co_await read(session);
      if (step || !slot_ || !is_ambiguous()) co_return step ? std::move(*step) : Step{};
    }
    if (is_over()) co_return co_await send_void(session);
    co_return co_await send_change(session);
  }

  /// The transaction is not to be carried out any more.
  [[nodiscard]] bool is_over() const noexcept { return given_up_ || failure_; }
  /// The end of a transaction that was not carried out, and never will be.
  [[nodiscard]] Committed refused() {
    if (failure_) return std::move(*failure_);
    return Committed{given_up_};
  }

  Awaitable<Step> make(Session session) {
    const error_code error = co_await Ledger::make(ledger_, session, slot_);
    if (!error) co_return Step{};
    lost_ = {};
    if (may_try_again(error)) co_return Step{error};
    co_return Step{Committed{error}};
  }

  Awaitable<Step> send_change(Session session) {
    if (copies_ == 0) first_sent_ = Clock::now();
    is_sent_ = true;
    auto [error, results] = co_await session.async_commit(whole(), use_tuple);
    is_sent_ = false;
    if (!error) {
      ++slot_.version;
      copies_ = 0;
      results.erase(results.begin());
      co_return Step{Committed{error, std::move(results)}};
    }
    if (outcome_of(error) == Outcome::ambiguous) note_lost(error);
    if (may_try_again(error)) co_return Step{error};
    const bool is_slots = results.front().error == error && (error == Error::bad_version || error == Error::no_node);
    results.erase(results.begin());
    if (outcome_of(error) == Outcome::ambiguous) co_return Step{Committed{error, std::move(results)}};
    if (is_slots) {  // the first copy has come to a slot that was swept; or to the mark of an earlier copy
      must_look_ = is_ambiguous();
      if (!must_look_) slot_ = {};
      co_return Step{};
    }
    failure_ = Committed{error, std::move(results)};
    co_return Step{};
  }

  /// No copy that is still under way can be carried out after this.
  Awaitable<Step> send_void(Session session) {
    const auto [error, stat] =
        co_await session.async_set_data(slot_.path, void_mark(slot_.version), slot_.version, use_tuple);
    if (!error) {
      slot_.version = stat.version;
      copies_ = 0;
      co_return Step{refused()};
    }
    must_look_ = true;
    if (may_try_again(error)) co_return Step{error};
    if (error == Error::bad_version || error == Error::no_node) co_return Step{};
    co_return Step{Committed{ambiguous_error()}};
  }

  /// Empty: it was not carried out so far.
  Awaitable<std::optional<Step>> read(Session session) {
    session.async_sync(slot_.path, asio::bind_executor(session.get_executor(), [](error_code) {}));
    auto [error, found] = co_await session.async_get_data(slot_.path, use_tuple);
    if (may_try_again(error)) co_return Step{error};
    if (error && error != Error::no_node) co_return Step{Committed{ambiguous_error()}};
    must_look_ = false;
    std::optional<SeenSlot> seen;
    if (!error) seen = SeenSlot{found.stat.version, std::move(found.data)};
    switch (after_loss(slot_.version, seen, Clock::now() - first_sent_)) {
      case AfterLoss::again: co_return std::nullopt;
      case AfterLoss::done:
        slot_.version = seen->version;
        copies_ = 0;
        co_return Step{Committed{{}, results_by_ledger(), true}};
      case AfterLoss::is_void:
        slot_.version = seen->version;
        copies_ = 0;
        co_return Step{refused()};
      case AfterLoss::elsewhere:
        slot_ = {};
        copies_ = 0;
        co_return std::nullopt;
      case AfterLoss::unknown: break;
    }
    co_return Step{Committed{ambiguous_error()}};
  }

  void note_lost(error_code error) {
    ++copies_;
    lost_ = error;
    must_look_ = true;
  }

  /// As the client's retry policy says, while the caller waits; in the background as long as the client lives.
  Awaitable<error_code> rest(RetryLoop& loop, error_code error) {
    if (!given_up_) {
      const error_code final = co_await loop.next(error);
      if (!final) co_return final;
      give_up(final, true);
      if (!is_ambiguous()) co_return final;
    }
    if (!is_connected()) give_up(given_up_, true);
    Timer timer{core_->client().get_executor(), 100ms};
    co_await timer.async_wait(use_tuple);
    co_return error_code{};
  }

  Awaitable<Result<Session>> find_session(RetryLoop& loop) {
    if (!given_up_) {
      auto session = co_await loop.session();
      if (session) co_return std::move(session);
      give_up(session.error(), true);
      if (!is_ambiguous()) co_return session.error();
    }
    if (!is_connected()) give_up(given_up_, true);
    auto [error, session] = co_await core_->client().async_session(path(), Deadline{}, use_tuple);
    if (error) co_return error;
    co_return std::move(session);
  }

  void end(Committed committed, const Session& session) {
    if (is_ambiguous()) slot_ = {};  // it is swept one day
    ledger_->give_back(std::move(slot_), session);
    tell(std::move(committed));
  }

  OnceCore core_;
  Transaction work_;
  Handler<Committed> handler_;
  std::optional<Timer> timer_;
  Deadline deadline_;
  std::shared_ptr<Ledger> ledger_;
  Slot slot_;
  Clock::time_point first_sent_{};
  int copies_ = 0;        // requests whose replies were lost, since the slot's version is what it is
  bool is_sent_ = false;  // one is under way
  bool must_look_ = false;
  error_code lost_{};  // the last ambiguous error
  error_code given_up_{};
  std::optional<Committed> failure_{};  // the server's, of the transaction's own
};

}  // namespace

void start_once(OnceCore core, Transaction transaction, Handler<Committed> handler) {
  std::make_shared<Once>(std::move(core), std::move(transaction), std::move(handler))->begin();
}

Awaitable<error_code> make_directory(OnceCore core, std::string directory) {
  const auto options = CreateOptions{CreateMode::container}.creating_parent_containers().idempotent();
  const auto [error, made] = co_await core->client().async_create(directory, std::string{}, options, use_tuple);
  co_return error == Error::node_exists ? error_code{} : error;
}

OnceCore once_core(const ClientHandle& client, const Transaction& transaction) {
  return std::make_shared<RecipeCore>(
      client, transaction.operations().empty() ? std::string{"/"} : transaction.operations().front().path);
}

namespace {

/// Passes on the results of a failed transaction, too.
Handler<Committed> unpacked(Handler<CommitOnceResult> handler) {
  auto slot = asio::get_associated_cancellation_slot(handler);
  return asio::bind_cancellation_slot(slot,
                                      [handler = std::move(handler)](error_code error, Committed committed) mutable {
                                        CommitOnceResult result;
                                        result.results = std::move(committed.results);
                                        std::move(handler)(error ? error : committed.error, std::move(result));
                                      });
}

struct KeyedResult {
  error_code error{};
  CommitOnceResult result{};

  KeyedResult() = default;
  KeyedResult(error_code of, CommitOnceResult with) : error{of}, result{std::move(with)} {}
};

/// The key's node is made by the transaction itself, ahead of the rest.
Awaitable<Result<KeyedResult>> commit_by_key(OnceCore core, Transaction work, IdempotencyKey key) {
  const std::string directory = Ledger::of(core->client())->keys();
  const std::string path = directory + "/" + escaped(key.name);
  if (key.name.empty() || validate_path(path, std::nothrow)) co_return make_error_code(Error::invalid_name);
  Transaction whole;
  whole.create(path, key.answer);
  for (const auto& each : work.operations()) whole.add(each);
  for (int rounds_left = max_rounds;; --rounds_left) {
    auto [error, done] = co_await commit(core, whole);
    if (error) co_return error;
    KeyedResult keyed{done.error, {}};
    if (done.results.empty()) co_return std::move(keyed);
    const error_code at_key = done.results.front().error;
    done.results.erase(done.results.begin());
    keyed.result.results = std::move(done.results);
    keyed.result.answer = key.answer;
    if (at_key == Error::no_node && rounds_left > 0) {
      if (const error_code unmade = co_await make_directory(core, directory)) co_return unmade;
    } else if (at_key == Error::node_exists && rounds_left > 0) {
      auto [unread, kept] = co_await core->client().async_get_data(path, use_tuple);
      if (unread == Error::no_node) continue;  // swept
      if (unread) co_return unread;
      KeyedResult repeated;
      repeated.result.is_repeat = true;
      repeated.result.answer = std::move(kept.data);
      co_return std::move(repeated);
    } else {
      co_return std::move(keyed);
    }
  }
}

}  // namespace

void start_commit_once(OnceCore core, Transaction transaction, Handler<CommitOnceResult> handler) {
  start_once(std::move(core), std::move(transaction), unpacked(std::move(handler)));
}

void start_commit_once_by_key(OnceCore core, Transaction transaction, IdempotencyKey key,
                              Handler<CommitOnceResult> handler) {
  auto slot = asio::get_associated_cancellation_slot(handler);
  Handler<KeyedResult> unpack =
      asio::bind_cancellation_slot(slot, [handler = std::move(handler)](error_code error, KeyedResult keyed) mutable {
        std::move(handler)(error ? error : keyed.error, std::move(keyed.result));
      });
  const asio::any_io_executor serial = core->client().get_executor();
  auto body = commit_by_key(core, std::move(transaction), std::move(key));
  spawn_operation(serial, Deadline{}, std::move(unpack), std::move(body), core);
}

}  // namespace detail

CommitOnceResult commit_once(const ClientHandle& client, Transaction transaction) {
  auto core = detail::once_core(client, transaction);
  detail::refuse_after_fork(*core);
  return detail::call_blocking<CommitOnceResult>(client, "commit_once " + core->path(), [&](auto handler) {
    detail::start_commit_once(core, std::move(transaction), std::move(handler));
  });
}

CommitOnceResult commit_once(const ClientHandle& client, Transaction transaction, IdempotencyKey key) {
  auto core = detail::once_core(client, transaction);
  detail::refuse_after_fork(*core);
  return detail::call_blocking<CommitOnceResult>(client, "commit_once " + core->path(), [&](auto handler) {
    detail::start_commit_once_by_key(core, std::move(transaction), std::move(key), std::move(handler));
  });
}

}  // namespace zklock
