// Many waiters for permits: never more permits are held than exist, and every waiter gets its own.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/repeats.hpp"
#include "support/semaphore.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace zklock;
using namespace zklock::test;

namespace {

/// The state that all users of the permits share.
struct Room {
  std::int32_t permits = 0;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> left{0};
  std::atomic<int> failures{0};

  void enter(int quantity) {
    const int now = inside += quantity;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
  }
  void leave(int quantity) { inside -= quantity; }
};

/// Acquires permits again and again, asynchronously, a random number at a time.
class Guest : public std::enable_shared_from_this<Guest> {
 public:
  Guest(const InterProcessSemaphore& semaphore, Room& room, unsigned seed)
      : semaphore_{semaphore}, room_{room}, random_{seed} {}

  void run() {
    if (room_.left.fetch_sub(1) <= 0) return;
    const auto quantity = static_cast<std::int32_t>(1 + random_() % static_cast<unsigned>(room_.permits));
    semaphore_.async_acquire_many(quantity, [self = shared_from_this()](error_code error, std::vector<Lease> leases) {
      self->enter(error, std::move(leases));
    });
  }

 private:
  void enter(error_code error, std::vector<Lease> leases) {
    if (error) {
      ++room_.failures;
      return;
    }
    room_.enter(static_cast<int>(leases.size()));
    while (!leases.empty()) {  // one by one
      room_.leave(1);
      leases.pop_back();
    }
    run();
  }

  const InterProcessSemaphore& semaphore_;
  Room& room_;
  std::minstd_rand random_;
};

}  // namespace

TEST_CASE("random quantities never exceed the permits, and every waiter gets its own") {
  auto& server = shared_server();
  const Client one = make_client(server);
  const Client two = make_client(server);
  const Session session = connected_session(one);
  const std::string path = fresh_path();
  Room room;
  room.permits = 5;
  room.left = repeats(800);
  const InterProcessSemaphore first{one, path, room.permits};
  const InterProcessSemaphore second{two, path, room.permits};
  for (unsigned i = 0; i < 16; ++i) {
    std::make_shared<Guest>(first, room, 2 * i + 1)->run();
    std::make_shared<Guest>(second, room, 2 * i + 2)->run();
  }
  REQUIRE(eventually([&] { return room.left <= -32 || room.failures > 0; }, 120s));
  CHECK(room.failures == 0);
  CHECK(room.most <= room.permits);
  CHECK(semaphore_leaves_no_trace(server, session, path));
}

TEST_CASE("of 10 clients with 5 permits 5 hold one together, and never more") {
  auto& server = shared_server();
  const std::string path = fresh_path();
  constexpr int clients = 10;
  Room room;
  room.permits = 5;
  std::atomic<bool> was_full{false};
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < clients; ++i)
    threads.emplace_back([&] {
      const Client client = make_client(server);
      InterProcessSemaphore semaphore{client, path, room.permits};
      const Lease lease = semaphore.acquire();
      room.enter(1);
      // The first five clients keep their permits until all five hold one.
      if (!eventually([&] { return was_full || room.inside == room.permits; })) ++room.failures;
      was_full = true;
      room.leave(1);
      ++done;
    });
  for (auto& thread : threads) thread.join();
  CHECK(done == clients);
  CHECK(room.failures == 0);
  CHECK(room.most == room.permits);
}

TEST_CASE("100 tasks share 11 permits, which are released one at a time or in chunks") {
  auto& server = shared_server();
  const Client client = make_client(server);
  const Session session = connected_session(client);
  const std::string path = fresh_path();
  constexpr std::size_t tasks = 100;
  constexpr std::size_t permits = 11;
  const InterProcessSemaphore semaphore{client, path, permits};
  std::vector<Pending<Lease>> pending(tasks);
  for (auto& each : pending) semaphore.async_acquire(each.handler());
  std::vector<Lease> held;
  std::minstd_rand random{7};
  const auto collect = [&] {
    std::erase_if(pending, [&](auto& each) {
      if (!each.ready()) return false;
      auto [error, lease] = each.get();
      if (!error) held.push_back(std::move(lease));
      return true;
    });
  };
  while (!pending.empty()) {
    const std::size_t so_many = std::min(permits, held.size() + pending.size());
    REQUIRE(eventually([&] {
      collect();
      return held.size() >= so_many;
    }));
    CHECK(held.size() == so_many);
    held.resize(held.size() - (1 + random() % held.size()));
  }
  held.clear();
  CHECK(semaphore_leaves_no_trace(server, session, path));
}

TEST_CASE("10 threads that share one semaphore object of one permit hold it one at a time") {
  auto& server = shared_server();
  const Client client = make_client(server);
  InterProcessSemaphore semaphore{client, fresh_path(), 1};
  Room room;
  std::vector<std::thread> threads;
  for (int i = 0; i < 10; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 10; ++turn) {
        const auto lease = semaphore.acquire(60s);
        if (!lease) ++room.failures;
        room.enter(1);
        std::this_thread::yield();
        room.leave(1);
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(room.failures == 0);
  CHECK(room.most == 1);
}

TEST_CASE("8 processes never hold more than 3 permits, and leave no trace") {
  constexpr int processes = 8;
  constexpr int turns = 60;
  constexpr std::int32_t permits = 3;
  testing::TestServer server;
  const std::string path = fresh_path();
  const auto log = server.directory() / "grants";
  std::vector<pid_t> children;
  for (unsigned i = 0; i < processes; ++i) {
    const pid_t child = ::fork();  // before this process has a thread of zklock
    REQUIRE(child >= 0);
    if (child == 0) {
      int status = 1;
      try {
        const Client client = make_client(server);
        InterProcessSemaphore semaphore{client, path, permits};
        std::ofstream out{log, std::ios::app};
        std::minstd_rand random{i + 1};
        for (int n = 0; n < turns; ++n) {
          const auto leases = semaphore.acquire_many(static_cast<std::int32_t>(1 + random() % permits));
          for (const Lease& lease : leases) out << "in " + std::to_string(lease.fencing_token()) + "\n" << std::flush;
          for (const Lease& lease : leases) out << "out " + std::to_string(lease.fencing_token()) + "\n" << std::flush;
        }
        status = 0;
      } catch (...) {
      }
      ::_exit(status);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  std::ifstream grants{log};
  std::string word;
  std::int64_t token = 0;
  std::set<std::int64_t> inside;
  std::size_t most = 0;
  int entries = 0;
  while (grants >> word >> token) {
    if (word == "in") {
      ++entries;
      CHECK(inside.insert(token).second);
    } else {
      CHECK(inside.erase(token) == 1);
    }
    most = std::max(most, inside.size());
  }
  CHECK(inside.empty());
  CHECK(entries >= processes * turns);
  CHECK(most <= permits);
  const Client client = make_client(server);
  CHECK(semaphore_leaves_no_trace(server, connected_session(client), path));
}
