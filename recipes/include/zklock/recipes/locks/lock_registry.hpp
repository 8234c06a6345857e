// Locks by the names of what they protect.
#pragma once

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {

/// What the holder of a lock may do with the resource.
enum class Isolation : std::uint8_t {
  read,  ///< shares it with other readers
  write  ///< has it alone
};

/// How long, and how often, to try for a lock. It has only trivial members, so it may be part of a co_await expression
/// (docs/contributing.md, compiler traps).
struct LockOptions {
  /// The wait of each try. max(): as long as it takes; zero or less: without waiting in the queue.
  std::chrono::milliseconds wait = std::chrono::milliseconds::max();
  /// How many times to enqueue before the result is Error::timed_out.
  int tries = 1;
  /// The pause between two tries, while the client has no node in the queue: random, evenly from 1 ms to `interval`,
  /// which doubles each time up to `max_interval`. So clients that time out together do not come back together.
  std::chrono::milliseconds interval{100};
  std::chrono::milliseconds max_interval{10'000};

  /// One try, for at most `wait`.
  template <class Rep, class Period>
  [[nodiscard]] static LockOptions of(std::chrono::duration<Rep, Period> wait) {
    using std::chrono::milliseconds;
    if (std::chrono::duration<double>{wait} >= std::chrono::duration<double>{milliseconds::max()}) return {};
    return {.wait = std::chrono::ceil<milliseconds>(wait)};
  }
};

/// An ensemble that shares the names of a registry with others.
struct RegistryEnsemble {
  /// Decides, together with the names of the others, which locks the ensemble has: the same in all processes, and not
  /// to be changed, unlike its servers. Not empty.
  std::string name;
  ClientHandle client;       ///< of this ensemble, and of no other one
  std::uint32_t weight = 1;  ///< its share of the locks, in proportion to the others'; 1 to 1000, the same everywhere
};

namespace detail {
class RegistryCore;
class RegistryEnsembles;
const ClientHandle& home_of(const RegistryCore& registry);
void start_registry_lock(std::shared_ptr<const RegistryCore> registry, Owner owner, std::string name,
                         Isolation isolation, LockOptions options, Handler<Lease> handler);
void start_registry_participants(std::shared_ptr<const RegistryCore> registry, std::string name,
                                 Handler<std::vector<LockParticipant>> handler);
}  // namespace detail

/// Read and write locks by the names of resources, under one path: each is an InterProcessReadWriteLock on
/// "<base>/<name>".
///
/// A name is one component of a path: no '/', not "." or "..", nothing that validate_path() refuses; encode names that
/// may contain such text. The state of a name, in the client and at the server, exists only while it is used: while a
/// client holds it, waits for it, or has an object of it. So there may be as many names as there are resources. A
/// registry whose locks are kept remembers the names of the last uses besides: a thousand, each until the first use of
/// any name after `keep`.
///
/// The names may be spread over several ensembles; each name belongs to one of them, by choose_by_rendezvous(). All
/// processes must be given the same ensembles, with the same names and weights: else two of them may hold one lock.
/// docs/scaling.md has how to change the ensembles. While one of them is away, its locks fail as those of a client
/// alone do, and the others do not notice. An operation runs, and its handler without an executor is called, by the
/// client of the name's ensemble.
///
/// It is a handle, and a value: copies are equivalent. Threads: any thread may call anything but the destructor.
class LockRegistry {
 public:
  /// The settings are those of all locks, which the client may keep, as an InterProcessReadWriteLock with the same
  /// settings (docs/locks.md, "Keeping a lock").
  /// Throws boost::system::system_error: LockError::invalid_lock_path.
  LockRegistry(const ClientHandle& client, std::string base, LockSettings settings = {});
  /// A temporary Client would be closed at once.
  template <class... Rest>
  LockRegistry(Client&&, Rest&&...) = delete;
  /// Over several ensembles, in whatever order. Throws boost::system::system_error: LockError::invalid_lock_path,
  /// Error::bad_arguments without any ensemble, with two of one name, or with an invalid name or weight.
  LockRegistry(const std::vector<RegistryEnsemble>& ensembles, std::string base, LockSettings settings = {});

  [[nodiscard]] const std::string& base() const noexcept;
  /// The name of the ensemble that has the lock; "" if the registry was made of one client.
  [[nodiscard]] const std::string& ensemble_of(std::string_view name) const;
  /// The lock itself, for what the registry does not do. Throws boost::system::system_error:
  /// LockError::invalid_lock_path.
  [[nodiscard]] InterProcessReadWriteLock read_write_lock(std::string_view name) const;

  /// Waits in the queue for the lock, as often as the options say, and completes with a Lease that holds it.
  ///
  /// Signature     void(error_code, Lease)
  /// Completes     when the lock is acquired, or the last try has timed out
  /// Errors        Error::timed_out after the last try; the others at once: LockError::invalid_lock_path (the name),
  ///               Error::invalid_retry_policy (no tries, an invalid interval), those of
  ///               InterProcessMutex::async_acquire
  /// Cancellation  terminal, partial, total: all leave no trace, also between two tries.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_lock(std::string name, Isolation isolation, LockOptions options, Token&& token = {}) const {
    return async_lock(Owner::make(), std::move(name), isolation, options, std::forward<Token>(token));
  }
  /// As above, with the default LockOptions: one try, for as long as it takes.
  ///
  /// Signature     void(error_code, Lease)
  template <asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_lock(std::string name, Isolation isolation, Token&& token = {}) const {
    return async_lock(Owner::make(), std::move(name), isolation, LockOptions{}, std::forward<Token>(token));
  }
  /// As above, for an owner that may already hold the lock; the operation then enters it again at once.
  ///
  /// Signature     void(error_code, Lease)
  template <asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_lock(Owner owner, std::string name, Isolation isolation, LockOptions options, Token&& token = {}) const {
    return detail::initiate<void(error_code, Lease), &detail::start_registry_lock>(
        std::forward<Token>(token), core_of(name), owner, std::move(name), isolation, options);
  }
  /// As above, with the default LockOptions.
  ///
  /// Signature     void(error_code, Lease)
  template <asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_lock(Owner owner, std::string name, Isolation isolation, Token&& token = {}) const {
    return async_lock(owner, std::move(name), isolation, LockOptions{}, std::forward<Token>(token));
  }

  /// As above, for at most `wait` instead. Zero or less: one try, without waiting in the queue.
  ///
  /// Signature     void(error_code, Lease)
  template <class Rep, class Period, asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_lock(std::string name, Isolation isolation, std::chrono::duration<Rep, Period> wait,
                  Token&& token = {}) const {
    return async_lock(Owner::make(), std::move(name), isolation, LockOptions::of(wait), std::forward<Token>(token));
  }
  template <class Rep, class Period, asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_lock(Owner owner, std::string name, Isolation isolation, std::chrono::duration<Rep, Period> wait,
                  Token&& token = {}) const {
    return async_lock(owner, std::move(name), isolation, LockOptions::of(wait), std::forward<Token>(token));
  }

  /// Lists the holders of the lock and the waiters, in the order of the queue.
  ///
  /// Signature     void(error_code, std::vector<LockParticipant>)
  /// Completes     as InterProcessMutex::async_participants
  /// Errors        LockError::invalid_lock_path, and those of InterProcessMutex::async_participants
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, std::vector<LockParticipant>)> Token = asio::deferred_t>
  auto async_participants(std::string name, Token&& token = {}) const {
    return detail::initiate<void(error_code, std::vector<LockParticipant>), &detail::start_registry_participants>(
        std::forward<Token>(token), core_of(name), std::move(name));
  }
  /// As above, but blocks. Throws boost::system::system_error: the errors of async_participants;
  /// Error::blocking_in_handler where the client's own work would have to wait for this call;
  /// Error::executor_not_running.
  [[nodiscard]] std::vector<LockParticipant> participants(std::string_view name) const;

  /// Blocks until the lock is acquired. The lock belongs to the Lease, which may go to another thread, and not to this
  /// thread: a thread that has the lock and asks for it again waits as others do. Throws boost::system::system_error:
  /// the errors of async_lock; Error::blocking_in_handler where the client's own work would have to wait for this call.
  [[nodiscard]] Lease lock(std::string_view name, Isolation isolation, LockOptions options = {}) const {
    return lock(Owner::make(), name, isolation, options);
  }
  /// As above, for an owner that may already hold the lock; the call then enters it again at once.
  [[nodiscard]] Lease lock(Owner owner, std::string_view name, Isolation isolation, LockOptions options = {}) const;
  /// As above, for at most `wait`; then it throws Error::timed_out.
  template <class Rep, class Period>
  [[nodiscard]] Lease lock(std::string_view name, Isolation isolation, std::chrono::duration<Rep, Period> wait) const {
    return lock(name, isolation, LockOptions::of(wait));
  }
  template <class Rep, class Period>
  [[nodiscard]] Lease lock(Owner owner, std::string_view name, Isolation isolation,
                           std::chrono::duration<Rep, Period> wait) const {
    return lock(owner, name, isolation, LockOptions::of(wait));
  }
  /// As lock, but std::nullopt when the last try has timed out. Without options: one try, without waiting in the queue,
  /// which throws after the client's connection_timeout if ZooKeeper cannot be reached.
  [[nodiscard]] std::optional<Lease> try_lock(std::string_view name, Isolation isolation,
                                              LockOptions options = {.wait = std::chrono::milliseconds::zero()}) const {
    return try_lock(Owner::make(), name, isolation, options);
  }
  /// As above, for an owner that may already hold it.
  [[nodiscard]] std::optional<Lease> try_lock(Owner owner, std::string_view name, Isolation isolation,
                                              LockOptions options = {.wait = std::chrono::milliseconds::zero()}) const;
  /// As above, for at most `wait`.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Lease> try_lock(std::string_view name, Isolation isolation,
                                              std::chrono::duration<Rep, Period> wait) const {
    return try_lock(name, isolation, LockOptions::of(wait));
  }
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Lease> try_lock(Owner owner, std::string_view name, Isolation isolation,
                                              std::chrono::duration<Rep, Period> wait) const {
    return try_lock(owner, name, isolation, LockOptions::of(wait));
  }

 private:
  /// The locks of the ensemble that has the name.
  [[nodiscard]] std::shared_ptr<const detail::RegistryCore> core_of(std::string_view name) const;

  std::shared_ptr<const detail::RegistryEnsembles> ensembles_;
};

}  // namespace zklock
