#include "blocking_call.hpp"

#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipe_kit/complete_later.hpp>
#include <zklock/recipes/counters/cached_atomic.hpp>

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

namespace zklock::detail {

/// The numbers that are there, and the block that is on its way.
///
/// Threads: any for take(), the client and the path; the serial executor for the rest.
class CachedAtomicCore final : public RecipeCore, public std::enable_shared_from_this<CachedAtomicCore> {
 public:
  CachedAtomicCore(const ClientHandle& client, DistributedAtomicLong counter, std::int64_t block)
      : RecipeCore{client, counter.path()},
        counter_{std::move(counter)},
        block_{block},
        fetched_{client.get_executor()} {}

  /// Asks for a block in time; empty: one is on its way.
  std::optional<CachedNumber> take() {
    const std::lock_guard lock{mutex_};
    if (numbers_.is_empty()) numbers_ = std::exchange(spare_, {});
    std::optional<CachedNumber> taken;
    if (!numbers_.is_empty()) {
      const std::int64_t number = numbers_.next++;
      taken.emplace(CachedNumber{true, number, number + 1, false});
    }
    const bool is_low = spare_.is_empty() && numbers_.end - numbers_.next <= block_ / 2 && !has_failed_;
    if ((is_low || !taken) && !std::exchange(is_asked_, true))
      asio::post(client().get_executor(), [self = shared_from_this()] { self->fetch(); });
    return taken;
  }

  static Awaitable<Result<CachedNumber>> next(CachedAtomicPtr self) {
    const Waiting waiting{self->waiting_};
    for (error_code failed;;) {
      if (const auto taken = self->take()) co_return *taken;
      if (failed) co_return failed;
      co_await self->fetched_.wait();
      failed = self->failed_;
    }
  }

 private:
  struct Block {
    std::int64_t next = 0;
    std::int64_t end = 0;

    [[nodiscard]] bool is_empty() const noexcept { return next == end; }
  };
  struct Waiting {
    explicit Waiting(std::int64_t& number) : count{number} { ++count; }
    ~Waiting() { --count; }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    std::int64_t& count;
  };

  void fetch() {
    counter_.async_add(std::max(block_, waiting_),  // all who wait now are served
                       asio::bind_executor(client().get_executor(),
                                           [self = shared_from_this()](error_code error, const CachedNumber& added) {
                                             self->on_fetched(error, added);
                                           }));
  }

  void on_fetched(error_code error, const CachedNumber& added) {
    // Where the block begins is that of a counter that was deleted meanwhile.
    if (!error && added.is_another_node) return fetch();
    if (!error && added.before < last_end_) error = make_error_code(Error::invalid_data);
    failed_ = error;
    {
      const std::lock_guard lock{mutex_};
      is_asked_ = false;
      has_failed_ = static_cast<bool>(error);
      if (!error) spare_ = {added.before, last_end_ = added.after};
    }
    fetched_.happen();
  }

  const DistributedAtomicLong counter_;
  const std::int64_t block_;
  std::mutex mutex_;
  Block numbers_;
  Block spare_;              // comes after them
  bool is_asked_ = false;    // a block is on its way
  bool has_failed_ = false;  // the last one did: the next one is fetched when there is no number left
  // The serial executor's:
  AsyncEvent fetched_;
  error_code failed_{};
  std::int64_t waiting_ = 0;
  std::int64_t last_end_ = std::numeric_limits<std::int64_t>::min();
};

const ClientHandle& client_of(const CachedAtomicCore& core) noexcept { return core.client(); }
const std::string& path_of(const CachedAtomicCore& core) noexcept { return core.path(); }

CachedAtomicPtr make_cached_atomic(const ClientHandle& client, DistributedAtomicLong counter, std::int64_t block) {
  if (block < 1) throw boost::system::system_error{Error::bad_arguments, "a block of numbers is 1 or more"};
  return std::make_shared<CachedAtomicCore>(client, std::move(counter), block);
}

std::optional<CachedNumber> take_number(const CachedAtomicPtr& core) {
  refuse_after_fork(existing(core));
  return core->take();
}

void start_next_number(CachedAtomicPtr core, Handler<CachedNumber> handler) {
  const asio::any_io_executor serial = core->client().get_executor();
  if (const auto taken = core->take())
    return complete_later(serial, std::move(core), std::move(handler), error_code{}, *taken);
  spawn_operation(serial, Deadline{}, std::move(handler), CachedAtomicCore::next(core), core);
}

CachedNumber next_number(const CachedAtomicPtr& core) {
  if (const auto taken = take_number(core)) return *taken;
  return call_blocking<CachedNumber>(core->client(), core->path(),
                                     [&](auto handler) { start_next_number(core, std::move(handler)); });
}

}  // namespace zklock::detail
