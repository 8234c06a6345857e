#include "slow_waits.hpp"

#include "lock_events.hpp"
#include "queue_kind.hpp"
#include "queue_position.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/shared_state.hpp>
#include <zklock/recipes/locks/lock_data.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace zklock::detail {

/// About the lock of one wait. A constructor: g++ 12 (docs/contributing.md, compiler traps).
struct SlowWaits::Question {
  explicit Question(const SlowWait& wait)
      : session{wait.lock->client().session(wait.lock->path())},
        directory{wait.lock->path()},
        kind{wait.kind},
        naming{wait.lock->naming()} {}

  Session session;
  std::string directory;
  LockKind kind;
  LockNaming naming;

  [[nodiscard]] bool is_about(const SlowWait& wait) const {
    return is_same_queue(wait.kind, kind) && wait.lock->path() == directory && wait.lock->naming() == naming;
  }
};

struct SlowWaits::Answer {
  std::vector<QueueEntry> queue{};
  std::string holder_path{};  // empty: the servers were not asked, or have not answered
  DataResult holder{};
};

namespace {

std::optional<std::size_t> how_many_ahead(const std::vector<QueueEntry>& queue, const SlowWait& wait) {
  const std::string_view number{wait.sequence.data(), wait.sequence.size()};
  const auto own = std::ranges::find_if(queue, [&](const QueueEntry& each) { return each.name.ends_with(number); });
  if (own == queue.end()) return std::nullopt;
  return static_cast<std::size_t>(own - queue.begin());
}

}  // namespace

void SlowWaits::add(const LockTarget& lock, SlowWait& wait, LockKind kind, std::uint64_t attempt,
                    Clock::time_point began, std::string_view node_path) {
  const Clock::duration limit = lock.client().config().slow_wait;
  if (limit == Clock::duration{}) return;
  if (node_path.size() >= wait.sequence.size())
    std::ranges::copy(node_path.substr(node_path.size() - wait.sequence.size()), wait.sequence.begin());
  if (wait.is_linked()) return;
  wait.lock = &lock;
  wait.kind = kind;
  wait.attempt = attempt;
  wait.began = began;
  wait.due = Clock::now() + limit;
  const auto all = lock.client().shared_state().keep<SlowWaits>();
  all->waits_.push_back(wait);
  all->start(lock.client());
}

void SlowWaits::start(const ClientHandle& client) {
  if (is_armed_ || is_closed_) return;
  if (!timer_) {
    executor_ = client.get_executor();
    timer_.emplace(executor_);
    states_.emplace(client.states());
    hear_end();
  }
  look();
}

/// A timer would keep the client's executor at work.
void SlowWaits::hear_end() {
  states_->async_next(
      asio::bind_executor(executor_, [weak = weak_from_this()](error_code error, ConnectionState state) {
        const auto self = weak.lock();
        if (!self) return;
        if (!error && state != ConnectionState::closed) return self->hear_end();
        self->is_closed_ = true;
        self->timer_.reset();
      }));
}

/// Sleeps until the first wait is due, and a little longer: the next ones may be told with it.
void SlowWaits::look() {
  is_armed_ = false;
  if (is_closed_ || waits_.empty()) return;
  is_armed_ = true;
  const auto first = std::ranges::min_element(waits_, {}, &SlowWait::due);
  if (first->due <= Clock::now()) {
    return spawn_detached(executor_, report(shared_from_this(), Question{*first}));
  }
  timer_->expires_at(first->due);
  timer_->async_wait([weak = weak_from_this()](error_code error) {
    if (const auto self = weak.lock(); self && !error) self->look();
  });
}

Awaitable<SlowWaits::Answer> SlowWaits::ask(Question question) {
  Answer answer;
  if (question.session.state() != SessionState::connected) co_return answer;
  auto [unlisted, listed] = co_await question.session.async_get_children(question.directory, use_tuple);
  if (unlisted) co_return answer;
  answer.queue = in_queue_order(listed.names, question.kind, question.naming);
  if (answer.queue.empty()) co_return answer;
  std::string holder = join_path(question.directory, answer.queue.front().name);
  auto [unread, node] = co_await question.session.async_get_data(holder, use_tuple);
  if (unread) co_return answer;
  answer.holder_path = std::move(holder);
  answer.holder = std::move(node);
  co_return answer;
}

Awaitable<void> SlowWaits::report(std::shared_ptr<SlowWaits> self, Question question) {
  const Answer answer = co_await ask(question);
  self->tell_waiters(question, answer);
  self->look();
}

void SlowWaits::tell_waiters(const Question& question, const Answer& answer) {
  const auto now = Clock::now();
  const auto data = parse_lock_data(answer.holder.data);
  LockHolder holder;
  if (data) holder.client_id = data->client_id;
  if (question.kind == LockKind::latch) holder.client_id = answer.holder.data;
  holder.session_id = answer.holder.stat.ephemeral_owner;
  holder.node_path = answer.holder_path;
  holder.age = std::max(Clock::duration{}, std::chrono::duration_cast<Clock::duration>(
                                               std::chrono::system_clock::now() - answer.holder.stat.created));
  for (SlowWait& wait : waits_) {
    if (wait.due > now || !question.is_about(wait)) continue;
    LockEvent event{.phase = LockPhase::slow, .kind = wait.kind, .attempt = wait.attempt, .waited = now - wait.began};
    event.session_id = question.session.id();
    event.ahead = how_many_ahead(answer.queue, wait);
    const bool is_own = event.ahead == 0U;  // its turn has come meanwhile
    if (!answer.holder_path.empty() && !is_own) event.holder = &holder;
    wait.due = wait.began + 10 * (now - wait.began);
    tell(*wait.lock, event);
  }
}

}  // namespace zklock::detail
