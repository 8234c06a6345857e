// zklock as a mutex of the standard library: lock() and unlock(), on a Client that does its I/O on a thread of its own.
#include "blocking_lock.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

#include <stdexcept>
#include <utility>
#include <vector>

namespace zklock::bench {
namespace {

class ZklockLock : public BlockingLock {
 public:
  ZklockLock(std::shared_ptr<Client> client, InterProcessMutex mutex)
      : client_{std::move(client)}, mutex_{std::move(mutex)} {}
  bool acquire(const Window&) override {
    mutex_.lock();
    return true;
  }
  bool try_acquire() override { return mutex_.try_lock(); }
  void release() override { mutex_.unlock(); }

 private:
  std::shared_ptr<Client> client_;
  InterProcessMutex mutex_;
};

std::shared_ptr<Client> connect(const Task& task) {
  ClientConfig config{.connect_string = task.servers,
                      .session_timeout = std::chrono::milliseconds{task.session_timeout_ms},
                      .sessions = task.sessions};
  auto client = std::make_shared<Client>(std::move(config));
  if (!client->wait_connected(std::chrono::seconds{20})) throw std::runtime_error{"no connection"};
  return client;
}

LockFactory locks(const Task& task, LockSettings settings) {
  std::vector<std::shared_ptr<Client>> clients;
  for (std::size_t i = 0; i < task.clients; ++i) clients.push_back(connect(task));
  return [task, clients, settings](std::size_t waiter) {
    const auto& client = clients[waiter % clients.size()];
    InterProcessReadWriteLock both{*client, task.lock_path(waiter), settings};
    return std::make_unique<ZklockLock>(client, task.kind != Task::Kind::read_write
                                                    ? InterProcessMutex{*client, task.lock_path(waiter), settings}
                                                : waiter < task.readers ? std::move(both.read_lock())
                                                                        : std::move(both.write_lock()));
  };
}

}  // namespace

LockFactory zklock_locks(const Task& task) { return locks(task, {}); }

LockFactory zklock_kept_locks(const Task& task) {
  return locks(task, {.keep = std::chrono::seconds{2}, .keeping = Keeping::silent});
}

}  // namespace zklock::bench
