#include "blocking_call.hpp"
#include "permit_count.hpp"
#include "permit_holders.hpp"
#include "permits.hpp"

#include <zklock/detail/existing.hpp>
#include <zklock/path.hpp>
#include <zklock/recipe_kit/blocking.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/recipes/locks/lock_path.hpp>

namespace zklock {

using detail::existing;
using detail::SemaphoreCore;
using detail::WaitPolicy;

namespace {

[[noreturn]] void fail(error_code error, const std::string& path) { detail::refuse(error, "semaphore " + path); }

std::string describe_permits(const SemaphoreCore& semaphore) {
  const auto& count = semaphore.count();
  return "semaphore " + semaphore.path() +
         (count.is_shared() ? ", its number of permits " + count.node : ", whose number of permits is fixed");
}

std::shared_ptr<SemaphoreCore> make_core(const ClientHandle& client, std::string path, PermitCount count,
                                         std::int32_t least, detail::KeepSettings keep = {}) {
  validate_lock_path(path);
  if (count.number < least) fail(make_error_code(LockError::invalid_permits), path);
  return std::make_shared<SemaphoreCore>(client, std::move(path), std::move(count), keep);
}

detail::KeepSettings of_permits(PermitSettings settings) {
  return detail::KeepSettings{LockSettings{.max_hold = settings.max_hold}};
}

Awaitable<Result<Lease>> acquire_permit(std::shared_ptr<SemaphoreCore> semaphore, Limits limits) {
  auto leases = co_await acquire_permits(std::move(semaphore), 1, limits);
  if (!leases) co_return leases.error();
  co_return std::move(leases->front());
}

}  // namespace

namespace detail {

const ClientHandle& home_of(const SemaphoreCore& semaphore) { return semaphore.client(); }

void start_acquire_permit(std::shared_ptr<SemaphoreCore> semaphore, WaitPolicy wait, Handler<Lease> handler) {
  const auto serial = semaphore->client().get_executor();
  const Limits limits = limits_of(wait, semaphore->client());
  auto body = acquire_permit(semaphore, limits);
  spawn_operation(serial, limits.deadline, std::move(handler), std::move(body), std::move(semaphore),
                  limits.at_deadline);
}

void start_acquire_permits(std::shared_ptr<SemaphoreCore> semaphore, std::int32_t quantity, WaitPolicy wait,
                           Handler<std::vector<Lease>> handler) {
  const auto serial = semaphore->client().get_executor();
  const Limits limits = limits_of(wait, semaphore->client());
  auto body = acquire_permits(semaphore, quantity, limits);
  spawn_operation(serial, limits.deadline, std::move(handler), std::move(body), std::move(semaphore),
                  limits.at_deadline);
}

void start_read_permits(std::shared_ptr<SemaphoreCore> semaphore, Handler<PermitNumber> handler) {
  const auto serial = semaphore->client().get_executor();
  auto body = read_permits(semaphore->client(), semaphore->count());
  spawn_operation(serial, {}, std::move(handler), std::move(body), std::move(semaphore));
}

void start_set_permits(std::shared_ptr<SemaphoreCore> semaphore, PermitNumber permits, Handler<PermitNumber> handler) {
  const auto serial = semaphore->client().get_executor();
  auto body = write_permits(semaphore->client(), semaphore->count(), permits);
  spawn_operation(serial, {}, std::move(handler), std::move(body), std::move(semaphore));
}

void start_permit_holders(std::shared_ptr<SemaphoreCore> semaphore, Handler<std::vector<LockParticipant>> handler) {
  const auto serial = semaphore->client().get_executor();
  const Deadline deadline = after(semaphore->client().config().operation_timeout);
  auto body = list_permit_holders(semaphore, deadline);
  spawn_operation(serial, deadline, std::move(handler), std::move(body), std::move(semaphore));
}

}  // namespace detail

InterProcessSemaphore::InterProcessSemaphore(const ClientHandle& client, std::string path, std::int32_t permits,
                                             PermitSettings settings)
    : core_{make_core(client, std::move(path), PermitCount{permits}, 1, of_permits(settings))} {}

InterProcessSemaphore::InterProcessSemaphore(const ClientHandle& client, std::string path, SharedPermits permits,
                                             PermitSettings settings) {
  validate_path(permits.path);
  core_ =
      make_core(client, std::move(path), PermitCount{permits.seed, std::move(permits.path)}, 0, of_permits(settings));
}

InterProcessSemaphore::InterProcessSemaphore(const ClientHandle& client, std::string path, LockSettings settings)
    : core_{make_core(client, std::move(path), PermitCount{1}, 1, detail::KeepSettings{settings})} {}

const std::string& InterProcessSemaphore::path() const noexcept {
  static const std::string none;
  return core_ ? core_->path() : none;
}

Lease InterProcessSemaphore::acquire() { return std::move(*acquire(WaitPolicy{})); }

std::vector<Lease> InterProcessSemaphore::acquire_many(std::int32_t quantity) {
  return std::move(*acquire_many(quantity, WaitPolicy{}));
}

std::optional<Lease> InterProcessSemaphore::acquire(WaitPolicy wait) {
  auto leases = acquire_many(1, wait);
  if (!leases) return std::nullopt;
  return std::move(leases->front());
}

std::optional<std::vector<Lease>> InterProcessSemaphore::acquire_many(std::int32_t quantity, WaitPolicy wait) {
  detail::refuse_after_fork(existing(core_));
  const auto& client = core_->client();
  const Limits limits = limits_of(wait, client);
  auto outcome = detail::block_until<std::vector<Lease>>(limits.deadline, limits.at_deadline, client, [&](auto token) {
    initiate_acquire_many(quantity, wait, std::move(token));
  });
  if (outcome.error == Error::timed_out) return std::nullopt;
  if (outcome.error == Error::invalid_data) throw boost::system::system_error{outcome.error, describe_permits(*core_)};
  if (outcome.error) fail(outcome.error, explain(path(), outcome.error, client));
  return std::move(outcome.value);
}

std::vector<LockParticipant> InterProcessSemaphore::participants() const {
  detail::refuse_after_fork(existing(core_));
  return detail::call_blocking<std::vector<LockParticipant>>(
      core_->client(), "semaphore " + path(), [this](auto token) { async_participants(std::move(token)); });
}

PermitNumber InterProcessSemaphore::permits() const {
  detail::refuse_after_fork(existing(core_));
  return detail::call_blocking<PermitNumber>(core_->client(), describe_permits(*core_),
                                             [this](auto token) { async_permits(std::move(token)); });
}

PermitNumber InterProcessSemaphore::set_permits(std::int32_t number, std::int32_t version) const {
  detail::refuse_after_fork(existing(core_));
  return detail::call_blocking<PermitNumber>(core_->client(), describe_permits(*core_),
                                             [&](auto token) { async_set_permits(number, version, std::move(token)); });
}

}  // namespace zklock
