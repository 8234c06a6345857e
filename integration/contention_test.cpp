// Many contenders: exclusion, order, and progress.
#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <atomic>
#include <fstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace zklock;
using namespace zklock::test;

namespace {

/// One who acquires again and again, asynchronously, and checks that nobody else is inside.
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

TEST_CASE("64 contenders in one process: no overlap, first come first served") {
  auto& server = shared_server();
  const Client one = make_client(server);
  const Client two = make_client(server);
  const Session session = connected_session(one);
  const std::string path = fresh_path();
  const InterProcessMutex first{one, path};
  const InterProcessMutex second{two, path};
  Contender::Room room;
  room.left = 3'000;
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

TEST_CASE("8 processes: no overlap, tokens in order, nothing left behind") {
  constexpr int processes = 8;
  constexpr int acquisitions = 250;
  testing::TestServer server;
  const std::string path = fresh_path();
  const auto log = server.directory() / "grants";
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = ::fork();  // before this process has a thread of zklock's
    REQUIRE(child >= 0);
    if (child == 0) {
      int status = 1;
      try {
        const Client client = make_client(server);
        InterProcessMutex mutex{client, path};
        std::ofstream out{log, std::ios::app};
        for (int n = 0; n < acquisitions; ++n) {
          const std::unique_lock guard{mutex};
          out << "in " << mutex.fencing_token() << '\n' << std::flush;
          out << "out " << mutex.fencing_token() << '\n' << std::flush;
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
  CHECK(count == 2 * processes * acquisitions);
  CHECK(exclusive);
  CHECK(ordered);
  const Client client = make_client(server);
  CHECK(leaves_no_trace(server, connected_session(client), path));
}
