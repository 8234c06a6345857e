#include "participants.hpp"
#include "permits.hpp"

#include <zklock/detail/blocking.hpp>
#include <zklock/detail/existing.hpp>
#include <zklock/path.hpp>
#include <zklock/recipes/inter_process_semaphore.hpp>

namespace zklock {

using detail::existing;
using detail::Patience;
using detail::SemaphoreCore;

namespace {

[[noreturn]] void fail(error_code error, const std::string& path) {
  throw boost::system::system_error{error, "semaphore " + path};
}

std::shared_ptr<SemaphoreCore> make_core(const ClientHandle& client, std::string path, PermitCount count,
                                         std::int32_t least) {
  validate_lock_path(path);
  if (count.number < least) fail(make_error_code(Error::invalid_permits), path);
  return std::make_shared<SemaphoreCore>(client, std::move(path), std::move(count));
}

Deadline deadline_of(Patience patience) {
  return patience.kind == Patience::Kind::until ? Deadline{patience.deadline} : std::nullopt;
}

Awaitable<Result<Lease>> acquire_permit(std::shared_ptr<SemaphoreCore> semaphore, bool try_once) {
  auto leases = co_await acquire_permits(std::move(semaphore), 1, try_once);
  if (!leases) co_return leases.error();
  co_return std::move(leases->front());
}

}  // namespace

namespace detail {

asio::any_io_executor callback_executor(const SemaphoreCore& semaphore) {
  return semaphore.client().callback_executor();
}

void refuse_after_fork(const SemaphoreCore& semaphore) {
  if (semaphore.client().in_forked_child()) fail(make_error_code(Error::used_after_fork), semaphore.path());
}

void start_acquire_permit(std::shared_ptr<SemaphoreCore> semaphore, Patience patience, Handler<Lease> handler) {
  const auto serial = semaphore->client().get_executor();
  auto body = acquire_permit(semaphore, patience.kind == Patience::Kind::try_once);
  spawn_operation(serial, deadline_of(patience), std::move(handler), std::move(body), std::move(semaphore));
}

void start_acquire_permits(std::shared_ptr<SemaphoreCore> semaphore, std::int32_t quantity, Patience patience,
                           Handler<std::vector<Lease>> handler) {
  const auto serial = semaphore->client().get_executor();
  auto body = acquire_permits(semaphore, quantity, patience.kind == Patience::Kind::try_once);
  spawn_operation(serial, deadline_of(patience), std::move(handler), std::move(body), std::move(semaphore));
}

void start_permit_holders(std::shared_ptr<SemaphoreCore> semaphore, Handler<std::vector<Participant>> handler) {
  const auto serial = semaphore->client().get_executor();
  auto body = list_permit_holders(semaphore);
  spawn_operation(serial, {}, std::move(handler), std::move(body), std::move(semaphore));
}

}  // namespace detail

InterProcessSemaphore::InterProcessSemaphore(const ClientHandle& client, std::string path, std::int32_t permits)
    : core_{make_core(client, std::move(path), PermitCount{permits}, 1)} {}

InterProcessSemaphore::InterProcessSemaphore(const ClientHandle& client, std::string path, SharedPermits permits) {
  validate_path(permits.path);
  core_ = make_core(client, std::move(path), PermitCount{permits.seed, std::move(permits.path)}, 0);
}

const std::string& InterProcessSemaphore::path() const noexcept {
  static const std::string none;
  return core_ ? core_->path() : none;
}

Lease InterProcessSemaphore::acquire() { return std::move(*acquire(Patience{})); }

std::vector<Lease> InterProcessSemaphore::acquire_many(std::int32_t quantity) {
  return std::move(*acquire_many(quantity, Patience{}));
}

std::optional<Lease> InterProcessSemaphore::acquire(Patience patience) {
  auto leases = acquire_many(1, patience);
  if (!leases) return std::nullopt;
  return std::move(leases->front());
}

std::optional<std::vector<Lease>> InterProcessSemaphore::acquire_many(std::int32_t quantity, Patience patience) {
  detail::refuse_after_fork(existing(core_));
  const auto& client = core_->client();
  if (client.blocking_would_deadlock()) fail(make_error_code(Error::would_deadlock), path());
  auto outcome = detail::block_on<std::vector<Lease>>(
      client.get_executor(), [&](auto token) { initiate_acquire_many(quantity, patience, std::move(token)); });
  if (outcome.error == Error::timed_out) return std::nullopt;
  if (outcome.error == Error::invalid_data)
    fail(outcome.error, path() + ", its number of permits " + core_->count().node);
  if (outcome.error) fail(outcome.error, path());
  return std::move(outcome.value);
}

}  // namespace zklock
