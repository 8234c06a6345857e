// Many contenders: exclusion, order, and progress.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/repeats.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace zklock;
using namespace zklock::test;

namespace {

/// Acquires the lock again and again, asynchronously, and checks that no other contender holds it.
class Contender : public std::enable_shared_from_this<Contender> {
 public:
  struct Room {
    std::atomic<int> inside{0};
    std::atomic<int> overlaps{0};
    std::atomic<int> left;
    std::atomic<std::int64_t> last_token{0};
    std::atomic<int> disorder{0};
    std::atomic<int> failures{0};
  };

  Contender(const InterProcessMutex& mutex, Room& room) : mutex_{mutex}, room_{room} {}

  void run() {
    if (room_.left.fetch_sub(1) <= 0) return;
    mutex_.async_acquire(
        [self = shared_from_this()](error_code error, Lease lease) { self->enter(error, std::move(lease)); });
  }

 private:
  void enter(error_code error, Lease lease) {
    if (error) {
      ++room_.failures;
      return;
    }
    if (room_.inside.fetch_add(1) != 0) ++room_.overlaps;
    if (room_.last_token.exchange(lease.fencing_token()) >= lease.fencing_token()) ++room_.disorder;
    --room_.inside;
    lease = Lease{};
    run();
  }

  const InterProcessMutex& mutex_;
  Room& room_;
};

}  // namespace

TEST_CASE("64 contenders in one process hold the lock one at a time, in the order of the wait queue") {
  auto& server = shared_server();
  const Client one = make_client(server);
  const Client two = make_client(server);
  const Session session = connected_session(one);
  const std::string path = fresh_path();
  const InterProcessMutex first{one, path};
  const InterProcessMutex second{two, path};
  Contender::Room room;
  room.left = repeats(3'000);
  for (int i = 0; i < 32; ++i) {
    std::make_shared<Contender>(first, room)->run();
    std::make_shared<Contender>(second, room)->run();
  }
  REQUIRE(eventually([&] { return room.left <= -64 || room.failures > 0; }, 120s));
  CHECK(room.overlaps == 0);
  CHECK(room.disorder == 0);
  CHECK(room.failures == 0);
  CHECK(leaves_no_trace(server, session, path));
}

namespace {

/// The number of processes that share the lock, of the threads in each, and of the acquires of each thread. Each thread
/// records its grants in one shared file.
struct Crowd {
  int processes;
  int threads;
  int acquisitions;  ///< of each thread
};

bool work(const testing::TestServer& server, const std::string& path, const std::filesystem::path& log,
          const Crowd& crowd) {
  const Client client = make_client(server);
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < crowd.threads; ++i)
    threads.emplace_back([&] {
      try {
        InterProcessMutex mutex{client, path};
        std::ofstream out{log, std::ios::app};
        for (int n = 0; n < crowd.acquisitions; ++n) {
          const std::unique_lock guard{mutex};
          out << "in " << mutex.fencing_token() << '\n' << std::flush;
          out << "out " << mutex.fencing_token() << '\n' << std::flush;
        }
        ++done;
      } catch (...) {
      }
    });
  for (std::thread& each : threads) each.join();
  return done == crowd.threads;
}

void check_crowd(const Crowd& crowd) {
  testing::TestServer server;
  const std::string path = fresh_path();
  const auto log = server.directory() / "grants";
  std::vector<pid_t> children;
  for (int i = 0; i < crowd.processes; ++i) {
    const pid_t child = ::fork();  // before this process has a thread of zklock
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(work(server, path, log, crowd) ? 0 : 1);
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
  std::int64_t last = 0;
  int count = 0;
  bool exclusive = true;
  bool ordered = true;
  while (grants >> word >> token) {
    const bool enters = count % 2 == 0;
    exclusive = exclusive && word == (enters ? "in" : "out") && (enters || token == last);
    ordered = ordered && (enters ? token > last : true);
    last = token;
    ++count;
  }
  CHECK(count == 2 * crowd.processes * crowd.threads * crowd.acquisitions);
  CHECK(exclusive);
  CHECK(ordered);
  const Client client = make_client(server);
  CHECK(leaves_no_trace(server, connected_session(client), path));
}

}  // namespace

TEST_CASE("8 processes hold the lock one at a time, with growing tokens, and leave no trace") {
  check_crowd({.processes = 8, .threads = 1, .acquisitions = repeats(250)});
}

TEST_CASE("64 processes of 8 threads each hold the lock one at a time, with growing tokens, and leave no trace") {
  check_crowd({.processes = 64, .threads = 8, .acquisitions = 4});
}

TEST_CASE("512 waiters in one process get the lock in order, and each handoff costs the same") {
  constexpr int waiters = 512;
  constexpr int part = 128;
  testing::TestServer server;
  const Client client = make_client(server);
  const Session session = connected_session(client);
  const std::string path = fresh_path();
  const InterProcessMutex mutex{client, path};
  Lease holder = acquire(mutex);
  std::vector<Pending<Lease>> pending(waiters);
  for (auto& waiter : pending) mutex.async_acquire(waiter.handler());
  REQUIRE(eventually([&] { return children_of(session, path).size() == waiters + 1; }));
  CHECK(server.monitor("zk_watch_count") <= 1);  // the directory's
  std::vector<std::int64_t> requests;
  const auto count_requests = [&] {
    CHECK_FALSE(sync(session));  // the local handoffs run ahead of the server
    requests.push_back(server.monitor("zk_packets_received"));
  };
  std::int64_t last = holder.fencing_token();
  bool in_order = true;
  for (int i = 0; i < waiters; ++i) {
    if (i % part == 0) count_requests();
    holder = Lease{};
    holder = std::get<1>(pending[static_cast<std::size_t>(i)].get());
    in_order = in_order && holder.is_held() && holder.fencing_token() > last;
    last = holder.fencing_token();
  }
  count_requests();
  CHECK(in_order);
  for (std::size_t i = 1; i < requests.size(); ++i)  // a delete with a check of the next node; renewals, now and then
    CHECK(requests[i] - requests[i - 1] <= part + 10);
  holder = Lease{};
  CHECK(leaves_no_trace(server, session, path));
}
