// A distributed counting semaphore.
#pragma once

#include <zklock/recipes/inter_process_mutex.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock {

/// A number of permits that a node keeps, so that it can be changed: Curator's SharedCount, which is four bytes,
/// big-endian. The semaphore makes the node with `seed` where it is missing.
struct SharedPermits {
  std::string path;
  std::int32_t seed = 1;
};

/// A semaphore's number of permits, and the version of the node that keeps it; any_version of a number that is fixed.
struct PermitNumber {
  std::int32_t number = 0;
  std::int32_t version = any_version;
};

namespace detail {

class SemaphoreCore;
asio::any_io_executor serial_executor(const SemaphoreCore& semaphore);
asio::any_io_executor callback_executor(const SemaphoreCore& semaphore);
void refuse_after_fork(const SemaphoreCore& semaphore);
void start_acquire_permit(std::shared_ptr<SemaphoreCore> semaphore, Patience patience, Handler<Lease> handler);
void start_acquire_permits(std::shared_ptr<SemaphoreCore> semaphore, std::int32_t quantity, Patience patience,
                           Handler<std::vector<Lease>> handler);
void start_read_permits(std::shared_ptr<SemaphoreCore> semaphore, Handler<PermitNumber> handler);
void start_set_permits(std::shared_ptr<SemaphoreCore> semaphore, PermitNumber permits, Handler<PermitNumber> handler);
void start_permit_holders(std::shared_ptr<SemaphoreCore> semaphore, Handler<std::vector<Participant>> handler);

}  // namespace detail

/// So many permits for all processes that use the same path: first come, first served. Curator's
/// InterProcessSemaphoreV2, and it shares the permits with Curator's on the same path.
///
/// A permit is a Lease. It belongs to whoever has it, not to a thread: give it back by any thread, or let it go.
///
/// The number of permits is a convention of those who use the path, or a node's (SharedPermits). When that is raised,
/// whoever waits is let in at once; when it is lowered, permits that are held stay.
///
/// Who waits for permits is first in line, and keeps the others waiting, also those that want fewer.
///
/// It is a handle: copies share it, and it may go before its leases and operations do.
/// Threads: any thread may call anything but the destructor.
class InterProcessSemaphore {
 public:
  /// Below `path` are "locks", where one stands in line, and "leases"; they are made, as container nodes, when they are
  /// first needed. Throws boost::system::system_error: Error::invalid_lock_path; Error::invalid_permits for less than
  /// one permit.
  InterProcessSemaphore(const ClientHandle& client, std::string path, std::int32_t permits);
  /// The same, with a number of permits that a node keeps. It is made, and its parents as container nodes, when it is
  /// first needed. Besides throws Error::invalid_path; a seed may be zero.
  InterProcessSemaphore(const ClientHandle& client, std::string path, SharedPermits permits);

  [[nodiscard]] const std::string& path() const noexcept;

  /// Waits in line for a permit and completes with a Lease that holds it.
  ///
  /// Signature     void(error_code, Lease)
  /// Completes     when all who came before have been let in, and a permit is free. Lost links are survived; a lost
  ///               session costs the place in line, and the attempt starts over, as often as the client's retry policy
  ///               allows.
  /// Errors        Error::not_connected (no connection within the client's connection_timeout), Error::connection_loss,
  ///               Error::session_expired (too often), Error::auth_failed, Error::no_auth, Error::closed,
  ///               Error::closing, Error::sequence_exhausted, Error::no_node (a directory is deleted time and again),
  ///               Error::no_children_for_ephemerals (the path is an ephemeral node), Error::lock_lost (our nodes are
  ///               deleted time and again), Error::invalid_data (the node of SharedPermits has not four bytes),
  ///               Error::too_many_watches (the session has so many), Error::quota_exceeded, Error::protocol_error (the
  ///               server's answer makes no sense), operation_aborted
  /// Cancellation  terminal, partial, total: all leave no trace.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(Token&& token = {}) const {
    return initiate_acquire(detail::Patience{}, std::forward<Token>(token));
  }
  /// As above, for at most `wait` in all; zero or less: one try, without waiting in line, though for a connection, at
  /// most for the client's connection_timeout. A try fails, too, while somebody else is just being let in.
  ///
  /// Signature     void(error_code, Lease)
  /// Errors        besides the above Error::timed_out. A permit not acquired leaves no trace.
  template <class Rep, class Period, asio::completion_token_for<void(error_code, Lease)> Token = asio::deferred_t>
  auto async_acquire(std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_acquire(detail::Patience::of(wait), std::forward<Token>(token));
  }

  /// Waits in line for so many permits together: all or none. Who wants several of them takes them at once, so that two
  /// who do cannot block each other. Of SharedPermits they may be more than there are, and then wait for more.
  ///
  /// Signature     void(error_code, std::vector<Lease>)
  /// Completes     when all who came before have been let in, and so many permits are free; otherwise as async_acquire.
  /// Errors        as async_acquire; besides Error::invalid_permits for a quantity that is less than one, more than the
  ///               semaphore's fixed number, or more than 1000: refused before anything is sent
  /// Cancellation  terminal, partial, total: all leave no trace.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, std::vector<Lease>)> Token = asio::deferred_t>
  auto async_acquire_many(std::int32_t quantity, Token&& token = {}) const {
    return initiate_acquire_many(quantity, detail::Patience{}, std::forward<Token>(token));
  }
  /// As above, for at most `wait` in all; see async_acquire.
  ///
  /// Signature     void(error_code, std::vector<Lease>)
  /// Errors        besides the above Error::timed_out
  template <class Rep, class Period,
            asio::completion_token_for<void(error_code, std::vector<Lease>)> Token = asio::deferred_t>
  auto async_acquire_many(std::int32_t quantity, std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_acquire_many(quantity, detail::Patience::of(wait), std::forward<Token>(token));
  }

  /// Who has a permit, in the order in which they were given; after them whoever is first in line, whose nodes wait
  /// among theirs. Nodes of other makes are listed, too, since they count. The participants' kind is LockKind::permit.
  ///
  /// Signature     void(error_code, std::vector<Participant>)
  /// Completes     when the nodes that were listed have been read; who has gone in between is left out.
  /// Errors        Error::not_connected, Error::connection_loss, Error::session_expired, Error::no_auth,
  ///               Error::closed, operation_aborted; a
  ///               path that does not exist is nobody
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, std::vector<Participant>)> Token = asio::deferred_t>
  auto async_participants(Token&& token = {}) const {
    return detail::initiate<void(error_code, std::vector<Participant>), &detail::start_permit_holders>(
        std::forward<Token>(token), core_);
  }
  /// As above, but blocks; throws as acquire. Without a deadline: somebody has to run the client's executor.
  [[nodiscard]] std::vector<Participant> participants() const;

  /// How many permits there are. The node of SharedPermits is made with the seed where it is missing.
  ///
  /// Signature     void(error_code, PermitNumber)
  /// Completes     when the node has been read; of a fixed number at once
  /// Errors        those of Client::async_get_data and async_create; Error::invalid_data (the node has not four bytes)
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, PermitNumber)> Token = asio::deferred_t>
  auto async_permits(Token&& token = {}) const {
    return detail::initiate<void(error_code, PermitNumber), &detail::start_read_permits>(std::forward<Token>(token),
                                                                                         core_);
  }
  /// Changes the number of permits in the node of SharedPermits, for all who use that; makes it where it is missing.
  /// Whoever waits is let in at once if there are more now; permits that are held stay. Curator's
  /// SharedCount::setCount.
  ///
  /// Signature     void(error_code, PermitNumber)
  /// Completes     with the number that was set, and its version
  /// Errors        Error::invalid_permits for less than none, and for a semaphore whose number is fixed: refused before
  ///               anything is sent; those of Client::async_set_data and async_create
  /// Cancellation  terminal, partial, total; what was sent may still be done by the server.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, PermitNumber)> Token = asio::deferred_t>
  auto async_set_permits(std::int32_t number, Token&& token = {}) const {
    return async_set_permits(number, any_version, std::forward<Token>(token));
  }
  /// As above, if nobody has changed it since it had this version. Curator's SharedCount::trySetCount.
  ///
  /// Signature     void(error_code, PermitNumber)
  /// Errors        besides the above Error::bad_version: read it again; Error::no_node: it is not there
  template <asio::completion_token_for<void(error_code, PermitNumber)> Token = asio::deferred_t>
  auto async_set_permits(std::int32_t number, std::int32_t version, Token&& token = {}) const {
    return detail::initiate<void(error_code, PermitNumber), &detail::start_set_permits>(
        std::forward<Token>(token), core_, PermitNumber{number, version});
  }
  /// As async_permits, but blocks, as participants() does; throws as acquire.
  [[nodiscard]] PermitNumber permits() const;
  /// As async_set_permits, but blocks, as participants() does; throws its errors and Error::would_deadlock.
  PermitNumber set_permits(std::int32_t number, std::int32_t version = any_version) const;

  /// Blocks until a permit is ours. Throws boost::system::system_error: the errors of async_acquire;
  /// Error::would_deadlock where the client's own work would have to wait for this call.
  Lease acquire();
  /// As acquire, for at most `wait`: nothing when the time is up. Zero or less: one try.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Lease> acquire(std::chrono::duration<Rep, Period> wait) {
    return acquire(detail::Patience::of(wait));
  }
  [[nodiscard]] std::optional<Lease> try_acquire() { return acquire(std::chrono::nanoseconds::zero()); }

  /// Blocks until so many permits are ours; throws as acquire, and Error::invalid_permits.
  [[nodiscard]] std::vector<Lease> acquire_many(std::int32_t quantity);
  /// As above, for at most `wait`: nothing when the time is up. Zero or less: one try.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<std::vector<Lease>> acquire_many(std::int32_t quantity,
                                                               std::chrono::duration<Rep, Period> wait) {
    return acquire_many(quantity, detail::Patience::of(wait));
  }

 private:
  friend class InterProcessSemaphoreMutex;

  template <class Token>
  auto initiate_acquire(detail::Patience patience, Token&& token) const {
    return detail::initiate<void(error_code, Lease), &detail::start_acquire_permit>(std::forward<Token>(token), core_,
                                                                                    patience);
  }
  template <class Token>
  auto initiate_acquire_many(std::int32_t quantity, detail::Patience patience, Token&& token) const {
    return detail::initiate<void(error_code, std::vector<Lease>), &detail::start_acquire_permits>(
        std::forward<Token>(token), core_, quantity, patience);
  }
  std::optional<Lease> acquire(detail::Patience patience);
  std::optional<std::vector<Lease>> acquire_many(std::int32_t quantity, detail::Patience patience);

  std::shared_ptr<detail::SemaphoreCore> core_;
};

}  // namespace zklock
