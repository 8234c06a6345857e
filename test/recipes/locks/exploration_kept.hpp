// Users of locks that their clients keep between two uses, under every fault at every step.
#pragma once

#include "repeated_lock.hpp"
#include "support/lock_watch.hpp"
#include "support/read_write_watch.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace zklock::test {

inline constexpr LockSettings confirmed{.keep = std::chrono::milliseconds{60}, .keeping = Keeping::confirmed};
inline constexpr LockSettings silent{.keep = std::chrono::milliseconds{60}, .keeping = Keeping::silent};
inline constexpr LockSettings with_handoffs{
    .keep = std::chrono::milliseconds{60}, .keeping = Keeping::silent, .local_hand_overs = 2};

/// Takes the lock several times; of a read/write lock the read lock, unless it writes.
struct KeptUser {
  enum class Does { acquires, tries, writes };
  std::string name;
  std::string client = name;
  int times = 6;
  LockSettings settings{};
  std::chrono::milliseconds comes_after{0};
  std::chrono::milliseconds works_for{5};
  std::chrono::milliseconds rests_for{0};
  Does does = Does::acquires;
};

template <class Mutex>
const Mutex& part_of(const Mutex& lock, const KeptUser&) {
  return lock;
}
inline const InterProcessMutex& part_of(const InterProcessReadWriteLock& lock, const KeptUser& user) {
  return user.does == KeptUser::Does::writes ? lock.write_lock() : lock.read_lock();
}

inline void note_grant(LockWatch& watch, const KeptUser& user, const Lease& lease) {
  watch.granted(user.name, lease.node_path(), lease.fencing_token(), user.settings.keeping == Keeping::silent);
}
inline void note_release(LockWatch& watch, const KeptUser& user) { watch.released(user.name); }

inline LockKind kind_of(const KeptUser& user) {
  return user.does == KeptUser::Does::writes ? LockKind::write : LockKind::read;
}
inline void note_grant(ReadWriteWatch& watch, const KeptUser& user, const Lease& lease) {
  watch.granted(user.name, kind_of(user), lease);
}
inline void note_release(ReadWriteWatch& watch, const KeptUser& user) { watch.released(user.name, kind_of(user)); }

template <class Lock, class Watch>
asio::awaitable<void> use_kept(testing::Simulation& simulation, std::shared_ptr<Watch> watch, KeptUser user) {
  co_await pause(user.comes_after);
  const Lock whole{simulation.client(user.client, patient_config()), lock_directory, user.settings};
  const auto& lock = part_of(whole, user);
  const bool tries = user.does == KeptUser::Does::tries;
  for (int i = 0; i < user.times; ++i) {
    auto acquiring = simulation.operation<Lease>(user.client, {.name = tries ? "try" : "acquire"}, [&](auto token) {
      tries ? lock.async_acquire(std::chrono::seconds{0}, std::move(token)) : lock.async_acquire(std::move(token));
    });
    auto [error, lease] = co_await std::move(acquiring);
    if (error == LockError::lock_lost) simulation.fail(user.name + " does not start over");
    if (!error) {
      note_grant(*watch, user, lease);
      co_await pause(user.works_for);
      note_release(*watch, user);
      auto releasing = simulation.operation<>(user.client, {.name = "release", .can_be_cancelled = false},
                                              [&lease = lease](auto token) { lease.async_release(std::move(token)); });
      co_await std::move(releasing);
    }
    co_await pause(user.rests_for);
  }
}

enum class Faults { all, operator_deletes };

/// `options.stride`: takes one of so many single faults.
template <class Lock, class Watch = LockWatch>
void check_kept(const std::vector<KeptUser>& users, std::size_t pairs, Faults faults = Faults::all,
                testing::ExplorationOptions options = {}) {
  const std::string queue =
      std::is_same_v<Lock, InterProcessSemaphoreMutex> ? lock_directory + "/leases" : lock_directory;
  const auto scenario = [&](testing::Simulation& simulation) {
    std::shared_ptr<Watch> watch;
    if constexpr (std::is_same_v<Watch, LockWatch>)
      watch = std::make_shared<Watch>(simulation, queue);
    else
      watch = std::make_shared<Watch>(simulation);
    for (const KeptUser& each : users)
      simulation.actor([&simulation, watch, each] { return use_kept<Lock, Watch>(simulation, watch, each); });
  };
  if (faults == Faults::operator_deletes) options.operator_deletes = queue;
  check_exploration(scenario, pairs, std::move(options));
}

}  // namespace zklock::test
