// Numbers from a counter, a block at a time.
#pragma once

#include <zklock/recipes/counters/distributed_atomic.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace zklock {

namespace detail {

using CachedNumber = AtomicResult<std::int64_t>;
class CachedAtomicCore;
using CachedAtomicPtr = std::shared_ptr<CachedAtomicCore>;
const ClientHandle& client_of(const CachedAtomicCore& core) noexcept;
inline const ClientHandle& home_of(const CachedAtomicCore& core) { return client_of(core); }

/// Throws Error::bad_arguments.
[[nodiscard]] CachedAtomicPtr make_cached_atomic(const ClientHandle& client, DistributedAtomicLong counter,
                                                 std::int64_t block);
[[nodiscard]] const std::string& path_of(const CachedAtomicCore& core) noexcept;
[[nodiscard]] std::optional<CachedNumber> take_number(const CachedAtomicPtr& core);
void start_next_number(CachedAtomicPtr core, Handler<CachedNumber> handler);
[[nodiscard]] CachedNumber next_number(const CachedAtomicPtr& core);  // blocking

}  // namespace detail

/// Gives each caller a number of its own: it adds a block to a counter, and hands out the numbers of the block without a
/// request, as Curator's CachedAtomicLong does on the same counter. The next block is fetched when half of one is left.
/// Numbers grow, with gaps where a process ends or a reply is lost; none is given twice, in any process:
/// docs/counters.md.
///
/// Threads: any thread may call anything but the destructor. Copies are one object.
class CachedAtomicLong {
 public:
  using Number = AtomicResult<std::int64_t>;

  /// Throws boost::system::system_error: Error::bad_arguments for a block below 1.
  explicit CachedAtomicLong(DistributedAtomicLong counter, std::int64_t block = 1'000)
      : core_{detail::make_cached_atomic(detail::client_of(detail::existing(counter.core_)), counter, block)} {}

  [[nodiscard]] const std::string& path() const { return detail::path_of(detail::existing(core_)); }

  /// The next number: `before`, as Curator's preValue. `after` is one more.
  ///
  /// Signature     void(error_code, Number)
  /// Completes     at once while there are numbers; otherwise with the next block.
  /// Errors        as DistributedAtomicLong::async_add, told once no numbers are left; Error::invalid_data also when the
  ///               counter has begun again below numbers that this object has given
  /// Cancellation  terminal, partial, total: the number that it would have given may be lost.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Number)> Token = asio::deferred_t>
  auto async_next(Token&& token = {}) const {
    return detail::initiate<void(error_code, Number), &detail::start_next_number>(std::forward<Token>(token), core_);
  }

  /// The next number, if there is one; otherwise a block is being fetched. Throws Error::used_after_fork.
  [[nodiscard]] std::optional<Number> try_next() const { return detail::take_number(core_); }

  /// Blocks. Throws boost::system::system_error with the errors of async_next, and Error::blocking_in_handler on a
  /// thread that the client's work needs, when no number is left.
  [[nodiscard]] Number next() const { return detail::next_number(core_); }

 private:
  detail::CachedAtomicPtr core_;
};

}  // namespace zklock
