#include "blocking_call.hpp"
#include "commit.hpp"
#include "fold.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/random.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipes/counters/distributed_atomic.hpp>
#include <zklock/timer.hpp>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

namespace zklock {

using namespace std::chrono_literals;

namespace detail {

namespace {

/// A change, until its caller is told.
struct WaitingChange {
  AtomicStep step;
  Handler<RawAtomic> handler;
  Clock::time_point due{};

  void tell(error_code error, RawAtomic raw) {
    if (handler) Handler<RawAtomic>{std::move(handler)}(error, std::move(raw));
  }
};
using Change = std::shared_ptr<WaitingChange>;

/// The node as the client knows it. The watch on its deletion is of the children, so that no change of the data fires
/// it: while it is set, the node is not another one, and its version tells whether the data are these.
struct Known {
  std::optional<std::string> data{};
  std::int32_t version = 0;
  std::int64_t czxid = 0;
  Watch removal{};
};

}  // namespace

/// The changes that one object gets. One write is under way at most; what comes meanwhile goes into the next one.
///
/// Threads: the serial executor, but for the path and the client.
class AtomicCore final : public RecipeCore, public std::enable_shared_from_this<AtomicCore> {
 public:
  using RecipeCore::RecipeCore;

  void add(Change change) {
    queue_.push_back(std::move(change));
    if (!std::exchange(is_running_, true)) spawn_detached(client().get_executor(), run(shared_from_this()));
  }

 private:
  static constexpr std::size_t max_batch = 10'000;

  static Awaitable<void> run(std::shared_ptr<AtomicCore> self) {
    while (!self->queue_.empty()) {
      const std::size_t size = std::min(self->queue_.size(), max_batch);
      std::vector<Change> batch{self->queue_.begin(), self->queue_.begin() + static_cast<std::ptrdiff_t>(size)};
      self->queue_.erase(self->queue_.begin(), self->queue_.begin() + static_cast<std::ptrdiff_t>(size));
      const error_code failed = co_await self->make_all(batch);
      for (const Change& each : batch) each->tell(failed, {});  // those that were not told yet
    }
    self->is_running_ = false;
  }

  /// Folds the changes over what is known of the node, and writes the result if the node has not changed.
  Awaitable<error_code> make_all(std::vector<Change>& batch) {
    for (int conflicts = 0;; ++conflicts) {
      for (const Change& each : batch)
        if (Clock::now() >= each->due) each->tell(make_error_code(Error::timed_out), {});
      const bool is_kept = known_ && known_->removal.is_set();
      if (!is_kept)
        if (const error_code unread = co_await read()) co_return unread;
      std::erase_if(batch, [](const Change& each) { return !each->handler; });
      if (batch.empty()) co_return error_code{};
      const Folded folded = fold(steps_of(batch), known_->data);
      if (!folded.is_changed) {  // nothing is written that would show whether the data are still these
        if (is_kept) {
          known_.reset();
          continue;
        }
        tell_all(batch, folded, false);
        co_return error_code{};
      }
      auto [error, done] = co_await commit(shared_from_this(), write_of(*folded.data));
      if (!error) error = done.error;
      if (!error) {
        tell_all(batch, folded, note_written(folded, done));
        co_return error_code{};
      }
      known_.reset();
      const bool is_conflict = error == Error::bad_version || error == Error::node_exists || error == Error::no_node;
      if (!is_conflict) co_return error;
      if (const std::string directory{parent_path(path())}; error == Error::no_node && directory != "/") {
        const error_code unmade = co_await make_directory(shared_from_this(), directory);
        if (unmade) co_return unmade;
      }
      co_await rest(conflicts);
    }
  }

  static std::vector<const AtomicStep*> steps_of(const std::vector<Change>& batch) {
    std::vector<const AtomicStep*> steps;
    for (const Change& each : batch) steps.push_back(&each->step);
    return steps;
  }

  static void tell_all(const std::vector<Change>& batch, const Folded& folded, bool is_another_node) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      RawAtomic raw = folded.each[i];
      raw.is_another_node = raw.is_done && is_another_node;
      batch[i]->tell(folded.errors[i], std::move(raw));
    }
  }

  /// Version -1 would stand for any version, so no write leaves it: two in one transaction pass it
  /// (test/models/counter.py).
  [[nodiscard]] Transaction write_of(const std::string& data) const {
    Transaction write;
    if (!known_->data) {
      write.create(path(), data);
    } else {
      write.set_data(path(), data, known_->version);
      if (known_->version == -2) write.set_data(path(), data);
    }
    return write;
  }

  /// Whether the node that was written is another one than the one that was read.
  bool note_written(const Folded& folded, const Committed& done) {
    const bool was_there = known_->data.has_value();
    if (done.by_ledger || !was_there) {  // without a Stat, or a watch
      known_.reset();
      return false;
    }
    const Stat& stat = done.results.back().stat;
    const bool is_another = stat.czxid != known_->czxid;
    if (is_another) {
      known_.reset();
    } else {
      known_->data = folded.data;
      known_->version = stat.version;
    }
    return is_another;
  }

  /// In one flight, behind a sync: a change that is refused must not be refused for old data.
  Awaitable<error_code> read() {
    const auto look = [this](const Session& session) { return look_once(session, path()); };
    auto found = co_await retried<std::shared_ptr<Known>>(client(), "get_data", path(),
                                                          after(client().config().operation_timeout), look);
    if (!found) co_return found.error();
    known_ = std::move(*found);
    co_return error_code{};
  }

  static Awaitable<Result<std::shared_ptr<Known>>> look_once(Session session, std::string path) {
    auto known = std::make_shared<Known>();
    const auto serial = session.get_executor();
    session.async_sync(path, asio::bind_executor(serial, [](error_code) {}));
    session.async_get_children_and_watch(
        path, asio::bind_executor(serial, [known](error_code error, const ChildrenResult& listed, Watch watch) {
          if (error) return;
          known->czxid = listed.stat.czxid;
          known->removal = std::move(watch);
        }));
    auto [error, read] = co_await session.async_get_data(path, use_tuple);
    if (error == Error::no_node) co_return std::move(known);
    if (error) co_return error;
    known->data = std::move(read.data);
    known->version = read.stat.version;
    if (known->czxid != read.stat.czxid) known->removal = Watch{};
    known->czxid = read.stat.czxid;
    co_return std::move(known);
  }

  /// Others write, too: after some conflicts each waits for a time of its own.
  Awaitable<void> rest(int conflicts) {
    if (conflicts < 2) co_return;
    const auto longest = std::chrono::microseconds{500} * (1 << std::min(conflicts, 8));
    Timer timer{client().get_executor(), longest * static_cast<int>(random_bits() % 1'000) / 1'000};
    co_await timer.async_wait(use_tuple);
  }

  std::deque<Change> queue_;
  bool is_running_ = false;
  std::shared_ptr<Known> known_;
};

const ClientHandle& client_of(const AtomicCore& core) noexcept { return core.client(); }
const std::string& path_of(const AtomicCore& core) noexcept { return core.path(); }

AtomicPtr make_atomic(const ClientHandle& client, std::string path) {
  validate_path(path);
  if (path == "/") throw boost::system::system_error{Error::invalid_path, "a counter at the root"};
  return std::make_shared<AtomicCore>(client, std::move(path));
}

void start_atomic(AtomicPtr core, AtomicStep step, Handler<RawAtomic> handler) {
  const asio::any_io_executor serial = core->client().get_executor();
  auto change = std::make_shared<WaitingChange>();
  auto slot = asio::get_associated_cancellation_slot(handler);
  change->step = std::move(step);
  change->handler = std::move(handler);
  change->due = *after(core->client().config().operation_timeout);
  if (slot.is_connected())
    slot.assign([serial, weak = std::weak_ptr{change}](asio::cancellation_type type) {
      if (type == asio::cancellation_type::none) return;
      asio::post(serial, [weak] {  // behind the start, which may still be queued
        if (const auto cancelled = weak.lock()) cancelled->tell(asio::error::operation_aborted, {});
      });
    });
  asio::dispatch(serial,
                 [core = std::move(core), change = std::move(change)]() mutable { core->add(std::move(change)); });
}

RawAtomic change_atomic(const AtomicPtr& core, AtomicStep step) {
  refuse_after_fork(existing(core));
  return call_blocking<RawAtomic>(core->client(), core->path(),
                                  [&](auto handler) { start_atomic(core, std::move(step), std::move(handler)); });
}

}  // namespace detail
}  // namespace zklock
