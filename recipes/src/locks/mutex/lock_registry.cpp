#include "blocking_call.hpp"
#include "fail_lock.hpp"
#include "limits.hpp"
#include "registry_core.hpp"

#include <zklock/detail/existing.hpp>
#include <zklock/recipe_kit/blocking.hpp>
#include <zklock/recipe_kit/random.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/lock_path.hpp>
#include <zklock/retry_policy.hpp>
#include <zklock/timer.hpp>

#include <boost/system/system_error.hpp>

#include <utility>

namespace zklock {

using detail::existing;
using detail::RegistryCore;

namespace {

using Registry = std::shared_ptr<const RegistryCore>;

/// The lock object lives as long as the attempt, and keeps the state that it shares with others on its path.
Awaitable<Result<Lease>> lock_in_tries(Registry registry, Owner owner, std::string name, Isolation isolation,
                                       LockOptions options) {
  const ExponentialBackoffRetry backoff{options.interval, options.tries < 1 ? -1 : options.tries - 1,
                                        options.max_interval};
  backoff.validate();
  const InterProcessReadWriteLock both = registry->lock_of(name);
  const InterProcessMutex& lock = isolation == Isolation::read ? both.read_lock() : both.write_lock();
  for (FailedTry failed;; ++failed.retry) {
    auto [error, lease] = co_await lock.async_acquire(owner, options.wait, use_tuple);
    if (!error) co_return std::move(lease);
    if (error != Error::timed_out) co_return error;
    failed.random = random_bits();
    const auto wait = backoff.wait_before(failed);
    if (!wait) co_return error;
    Timer pause{registry->client().get_executor(), *wait};
    const auto [cancelled] = co_await pause.async_wait(use_tuple);
    if (cancelled) co_return cancelled;
  }
}

Awaitable<Result<std::vector<LockParticipant>>> participants(Registry registry, std::string name) {
  const InterProcessReadWriteLock lock = registry->lock_of(name);
  auto [error, participants] = co_await lock.async_participants(use_tuple);
  if (error) co_return error;
  co_return std::move(participants);
}

/// The wait of each try.
detail::WaitPolicy wait_policy_of(const LockOptions& options) {
  return options.wait == options.wait.max() ? detail::WaitPolicy{} : detail::WaitPolicy::of(options.wait);
}

/// The moment at which the last try has certainly ended; std::nullopt: it is unknown.
Deadline until_the_last(const LockOptions& options, const Limits& of_a_try) {
  using Seconds = std::chrono::duration<double>;
  if (!of_a_try.deadline || options.tries < 1) return std::nullopt;
  const Seconds a_try = *of_a_try.deadline - Clock::now();
  return after(options.tries * a_try + (options.tries - 1) * Seconds{options.max_interval});
}

/// The lease, or std::nullopt if the time is up.
std::optional<Lease> blocking_lock(const Registry& registry, Owner owner, std::string_view name, Isolation isolation,
                                   LockOptions options) {
  refuse_after_fork(*registry);
  const std::string path = registry->path_of(name);
  const Limits of_a_try = limits_of(wait_policy_of(options), registry->client());
  auto outcome = detail::block_until<Lease>(
      until_the_last(options, of_a_try), of_a_try.at_deadline, registry->client(), [&](auto token) {
        detail::start_registry_lock(registry, owner, std::string{name}, isolation, options,
                                    detail::Handler<Lease>{std::move(token)});
      });
  if (outcome.error == Error::timed_out) return std::nullopt;
  if (outcome.error)
    throw boost::system::system_error{outcome.error, explain("lock " + path, outcome.error, registry->client())};
  return std::move(outcome.value);
}

}  // namespace

namespace detail {

const ClientHandle& home_of(const RegistryCore& registry) { return registry.client(); }

void start_registry_lock(Registry registry, Owner owner, std::string name, Isolation isolation, LockOptions options,
                         Handler<Lease> handler) {
  const auto serial = registry->client().get_executor();
  auto body = lock_in_tries(registry, owner, std::move(name), isolation, options);
  spawn_operation(serial, {}, std::move(handler), std::move(body), std::move(registry));
}

void start_registry_participants(Registry registry, std::string name, Handler<std::vector<LockParticipant>> handler) {
  const auto serial = registry->client().get_executor();
  auto body = participants(registry, std::move(name));
  spawn_operation(serial, {}, std::move(handler), std::move(body), std::move(registry));
}

}  // namespace detail

LockRegistry::LockRegistry(const ClientHandle& client, std::string base, LockSettings settings) {
  validate_lock_path(base);
  ensembles_ = std::make_shared<detail::RegistryEnsembles>(client, base, settings);
}

LockRegistry::LockRegistry(const std::vector<RegistryEnsemble>& ensembles, std::string base, LockSettings settings) {
  validate_lock_path(base);
  ensembles_ = std::make_shared<detail::RegistryEnsembles>(ensembles, base, settings);
}

const std::string& LockRegistry::base() const noexcept {
  static const std::string none;
  return ensembles_ ? ensembles_->base() : none;
}

const std::string& LockRegistry::ensemble_of(std::string_view name) const {
  return existing(ensembles_).name_of_ensemble(name);
}

std::shared_ptr<const RegistryCore> LockRegistry::core_of(std::string_view name) const {
  return existing(ensembles_).core_of(name);
}

InterProcessReadWriteLock LockRegistry::read_write_lock(std::string_view name) const {
  return core_of(name)->lock_of(name);
}

Lease LockRegistry::lock(Owner owner, std::string_view name, Isolation isolation, LockOptions options) const {
  const Registry registry = core_of(name);
  auto lease = blocking_lock(registry, owner, name, isolation, options);
  if (!lease) throw boost::system::system_error{make_error_code(Error::timed_out), "lock " + registry->path_of(name)};
  return std::move(*lease);
}

std::optional<Lease> LockRegistry::try_lock(Owner owner, std::string_view name, Isolation isolation,
                                            LockOptions options) const {
  return blocking_lock(core_of(name), owner, name, isolation, options);
}

std::vector<LockParticipant> LockRegistry::participants(std::string_view name) const {
  const Registry registry = core_of(name);
  refuse_after_fork(*registry);
  return detail::call_blocking<std::vector<LockParticipant>>(
      registry->client(), "lock " + registry->path_of(name),
      [&](auto token) { async_participants(std::string{name}, std::move(token)); });
}

}  // namespace zklock
