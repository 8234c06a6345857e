// A distributed counting semaphore.
#pragma once

#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock {

/// A number of permits that a node stores, so that it can be changed: Curator's SharedCount, four bytes, big-endian.
/// The semaphore creates the node with `seed` where it is missing.
struct SharedPermits {
  std::string path;
  std::int32_t seed = 1;
};

/// A semaphore's number of permits, and the version of the node that stores it; any_version for a fixed number.
struct PermitNumber {
  std::int32_t number = 0;
  std::int32_t version = any_version;
};

/// The settings of a semaphore object.
struct PermitSettings {
  /// As LockSettings::max_hold, for each permit: zero or less is no limit.
  std::chrono::milliseconds max_hold{0};
};

namespace detail {

class SemaphoreCore;
const ClientHandle& home_of(const SemaphoreCore& semaphore);
void start_acquire_permit(std::shared_ptr<SemaphoreCore> semaphore, WaitPolicy wait, Handler<Lease> handler);
void start_acquire_permits(std::shared_ptr<SemaphoreCore> semaphore, std::int32_t quantity, WaitPolicy wait,
                           Handler<std::vector<Lease>> handler);
void start_read_permits(std::shared_ptr<SemaphoreCore> semaphore, Handler<PermitNumber> handler);
void start_set_permits(std::shared_ptr<SemaphoreCore> semaphore, PermitNumber permits, Handler<PermitNumber> handler);
void start_permit_holders(std::shared_ptr<SemaphoreCore> semaphore, Handler<std::vector<LockParticipant>> handler);

}  // namespace detail

/// A number of permits for all processes that use the same path: first come, first served. Curator's
/// InterProcessSemaphoreV2; it shares the permits with Curator's on the same path.
///
/// A permit is a Lease. It belongs to the program that has the Lease, not to a thread: release it from any thread, or
/// destroy it.
///
/// The number of permits is either a convention of the programs that use the path, or stored in a node (SharedPermits).
/// When that number is raised, waiters are admitted at once; when it is lowered, permits that are held stay held.
///
/// The client that waits for permits is at the head of the queue. It blocks the other waiters, also those that want
/// fewer permits.
///
/// It is a handle: copies share its state, and it may be destroyed before its leases and operations end.
/// Threads: any thread may call anything but the destructor.
class InterProcessSemaphore {
 public:
  /// Below `path` are "locks", which is the wait queue, and "leases"; they are created, as container nodes, when they
  /// are first needed. Throws boost::system::system_error: LockError::invalid_lock_path; LockError::invalid_permits for
  /// less than one permit.
  InterProcessSemaphore(const ClientHandle& client, std::string path, std::int32_t permits,
                        PermitSettings settings = {});
  /// The same, with a number of permits that a node stores. The node is created, and its parents as container nodes,
  /// when it is first needed. Also throws Error::invalid_path; a seed may be zero.
  InterProcessSemaphore(const ClientHandle& client, std::string path, SharedPermits permits,
                        PermitSettings settings = {});
  /// A temporary Client would be closed at once.
  template <class... Rest>
  InterProcessSemaphore(Client&&, Rest&&...) = delete;

  [[nodiscard]] const std::string& path() const noexcept;

  /// Waits in the queue for a permit and completes with a Lease that holds it.
  ///
  /// Signature     void(error_code, Lease)
  /// Completes     when all contenders ahead in the queue have been admitted and a permit is free. The operation
  ///               survives a lost link. If the session is lost, so is the queue position, and the attempt starts over,
  ///               as often as the client's retry policy allows.
  /// Errors        Error::not_connected (no connection within the client's connection_timeout), Error::connection_loss,
  ///               Error::session_expired (too often), Error::auth_failed, Error::no_auth, Error::closed,
  ///               Error::closing, LockError::sequence_exhausted, Error::no_node (a directory is deleted again and
  ///               again), Error::no_children_for_ephemerals (the path is an ephemeral node), LockError::lock_lost (the
  ///               attempt's nodes are deleted again and again), Error::invalid_data (the node of SharedPermits does
  ///               not have four bytes), Error::too_many_watches (the session has reached the limit),
  ///               Error::quota_exceeded, Error::protocol_error (malformed reply), operation_aborted
  /// Cancellation  terminal, partial, total: all leave no trace.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(Token&& token = {}) const {
    return initiate_acquire(detail::WaitPolicy{}, std::forward<Token>(token));
  }
  /// As above, for at most `wait` in all. Zero or less: one try, without waiting in the queue. A try waits for a
  /// connection, at most for the client's connection_timeout. A try also fails while another client is just being
  /// admitted.
  ///
  /// Signature     void(error_code, Lease)
  /// Errors        besides the above Error::timed_out. A permit not acquired leaves no trace.
  template <class Rep, class Period, asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_acquire(detail::WaitPolicy::of(wait), std::forward<Token>(token));
  }

  /// Waits in the queue for `quantity` permits together: all or none. Acquire several permits by one call, so that two
  /// such callers cannot block each other. With SharedPermits the quantity may exceed the current number of permits;
  /// the operation then waits until the number is raised.
  ///
  /// Signature     void(error_code, std::vector<Lease>)
  /// Completes     when all contenders ahead in the queue have been admitted and that many permits are free; otherwise
  ///               as async_acquire.
  /// Errors        as async_acquire; besides LockError::invalid_permits for a quantity that is less than one, more than
  ///               the semaphore's fixed number, or more than 1000: refused before any request is sent
  /// Cancellation  terminal, partial, total: all leave no trace.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, std::vector<Lease>)> Token = asio::deferred_t>
  auto async_acquire_many(std::int32_t quantity, Token&& token = {}) const {
    return initiate_acquire_many(quantity, detail::WaitPolicy{}, std::forward<Token>(token));
  }
  /// As above, for at most `wait` in all; see async_acquire.
  ///
  /// Signature     void(error_code, std::vector<Lease>)
  /// Errors        besides the above Error::timed_out
  template <class Rep, class Period,
            asio::completion_token_for<void(error_code, std::vector<Lease>)> Token = asio::deferred_t>
  auto async_acquire_many(std::int32_t quantity, std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_acquire_many(quantity, detail::WaitPolicy::of(wait), std::forward<Token>(token));
  }

  /// Lists the holders of permits in the order of their grants, then the client at the head of the queue, whose nodes
  /// wait among theirs. Other programs' nodes are listed, too, since they count. The participants' kind is
  /// LockKind::permit.
  ///
  /// Signature     void(error_code, std::vector<LockParticipant>)
  /// Completes     when the nodes that were listed have been read; a node that is deleted in between is left out. Lost
  ///               links and sessions are survived as often as the client's retry policy allows.
  /// Errors        Error::timed_out (not done within the client's operation_timeout), Error::not_connected (no
  ///               connection within its connection_timeout), Error::connection_loss, Error::session_expired and
  ///               Error::operation_timeout (too often), Error::auth_failed, Error::no_auth, Error::closed,
  ///               Error::closing, operation_aborted; a path that does not exist gives an empty list
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, std::vector<LockParticipant>)> Token = asio::deferred_t>
  auto async_participants(Token&& token = {}) const {
    return detail::initiate<void(error_code, std::vector<LockParticipant>), &detail::start_permit_holders>(
        std::forward<Token>(token), core_);
  }
  /// As above, but blocks. Throws boost::system::system_error: the errors of async_participants;
  /// Error::blocking_in_handler where the client's own work would have to wait for this call;
  /// Error::executor_not_running.
  [[nodiscard]] std::vector<LockParticipant> participants() const;

  /// Reads the number of permits. The node of SharedPermits is created with the seed where it is missing.
  ///
  /// Signature     void(error_code, PermitNumber)
  /// Completes     when the node has been read; at once for a fixed number
  /// Errors        those of Client::async_get_data and async_create; Error::invalid_data (the node does not have four
  ///               bytes)
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, PermitNumber)> Token = asio::deferred_t>
  auto async_permits(Token&& token = {}) const {
    return detail::initiate<void(error_code, PermitNumber), &detail::start_read_permits>(std::forward<Token>(token),
                                                                                         core_);
  }
  /// Changes the number of permits in the node of SharedPermits, for all clients that use it; creates it where it is
  /// missing. If there are more permits now, waiters are admitted at once; permits that are held stay held. Curator's
  /// SharedCount::setCount.
  ///
  /// Signature     void(error_code, PermitNumber)
  /// Completes     with the number that was set, and its version
  /// Errors        LockError::invalid_permits for a negative number, and for a semaphore whose number is fixed: refused
  ///               before any request is sent; those of Client::async_set_data and async_create
  /// Cancellation  terminal, partial, total; what was sent may still be done by the server.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, PermitNumber)> Token = asio::deferred_t>
  auto async_set_permits(std::int32_t number, Token&& token = {}) const {
    return async_set_permits(number, any_version, std::forward<Token>(token));
  }
  /// As above, if the number has not been changed since it had this version. Curator's SharedCount::trySetCount.
  ///
  /// Signature     void(error_code, PermitNumber)
  /// Errors        besides the above Error::bad_version: read it again; Error::no_node: the node does not exist
  template <asio::completion_token_for<void(error_code, PermitNumber)> Token = asio::deferred_t>
  auto async_set_permits(std::int32_t number, std::int32_t version, Token&& token = {}) const {
    return detail::initiate<void(error_code, PermitNumber), &detail::start_set_permits>(
        std::forward<Token>(token), core_, PermitNumber{number, version});
  }
  /// As async_permits, but blocks, as participants() does; throws as acquire.
  [[nodiscard]] PermitNumber permits() const;
  /// As async_set_permits, but blocks, as participants() does; throws its errors and Error::blocking_in_handler.
  PermitNumber set_permits(std::int32_t number, std::int32_t version = any_version) const;

  /// Blocks until a permit is acquired. Throws boost::system::system_error: the errors of async_acquire;
  /// Error::blocking_in_handler where the client's own work would have to wait for this call.
  Lease acquire();
  /// As acquire, for at most `wait`: std::nullopt when the time is up. Zero or less: one try.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Lease> acquire(std::chrono::duration<Rep, Period> wait) {
    return acquire(detail::WaitPolicy::of(wait));
  }
  [[nodiscard]] std::optional<Lease> try_acquire() { return acquire(std::chrono::nanoseconds::zero()); }

  /// Blocks until that many permits are acquired; throws as acquire, and LockError::invalid_permits.
  [[nodiscard]] std::vector<Lease> acquire_many(std::int32_t quantity);
  /// As above, for at most `wait`: std::nullopt when the time is up. Zero or less: one try.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<std::vector<Lease>> acquire_many(std::int32_t quantity,
                                                               std::chrono::duration<Rep, Period> wait) {
    return acquire_many(quantity, detail::WaitPolicy::of(wait));
  }

 private:
  friend class InterProcessSemaphoreMutex;
  /// One permit, which the client may keep.
  InterProcessSemaphore(const ClientHandle& client, std::string path, LockSettings settings);

  template <class Token>
  auto initiate_acquire(detail::WaitPolicy wait, Token&& token) const {
    return detail::initiate<void(error_code, Lease), &detail::start_acquire_permit>(std::forward<Token>(token), core_,
                                                                                    wait);
  }
  template <class Token>
  auto initiate_acquire_many(std::int32_t quantity, detail::WaitPolicy wait, Token&& token) const {
    return detail::initiate<void(error_code, std::vector<Lease>), &detail::start_acquire_permits>(
        std::forward<Token>(token), core_, quantity, wait);
  }
  std::optional<Lease> acquire(detail::WaitPolicy wait);
  std::optional<std::vector<Lease>> acquire_many(std::int32_t quantity, detail::WaitPolicy wait);

  std::shared_ptr<detail::SemaphoreCore> core_;
};

}  // namespace zklock
