// A program whose tests set its clocks. Each test is a process of its own, since the C client reads the time only once.
// The numbers in brackets are those of docs/faults.md.
#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <atomic>

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

using namespace zklock;
using namespace zklock::test;

namespace {

std::atomic<time_t> first_request{0};  // what time() returns; 0: the real time
std::atomic<time_t> wall_is_ahead{0};  // s
std::atomic<time_t> was_suspended{0};  // s

struct Jump {
  std::atomic<time_t>& clock;
  explicit Jump(std::atomic<time_t>& which) : clock{which} {}
  ~Jump() { clock = 0; }
  Jump(const Jump&) = delete;
  void by(std::chrono::seconds step) const { clock += step.count(); }
};

}  // namespace

// The program's own functions, which replace those of libc for all of its code.
extern "C" int clock_gettime(clockid_t id, timespec* now) noexcept {
  const long failed = ::syscall(SYS_clock_gettime, id, now);
  if (failed) return -1;
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) now->tv_sec += wall_is_ahead;
  if (id == CLOCK_BOOTTIME) now->tv_sec += was_suspended;
  return 0;
}

extern "C" int gettimeofday(timeval* now, void*) noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  *now = {time.tv_sec, time.tv_nsec / 1'000};
  return 0;
}

extern "C" time_t time(time_t* now) noexcept {
  timespec real{};
  ::clock_gettime(CLOCK_REALTIME, &real);
  const time_t result = first_request ? first_request.load() : real.tv_sec;
  if (now) *now = result;
  return result;
}

TEST_CASE("jumps of the wall clock change no session, no deadline and no lock", "[faults]") {  // [F56]
  const testing::TestServer server;
  const Client client = make_client(server);
  const Session session = connected_session(client);
  const InterProcessMutex mutex{client, "/lock"};
  const Lease lease = acquire(mutex);
  const Jump wall{wall_is_ahead};
  for (const std::chrono::seconds step : {3'600s, -7'200s, 3'600s}) {
    Pending<Lease> waiting;
    const auto start = std::chrono::steady_clock::now();
    mutex.async_acquire(500ms, waiting.handler());
    CHECK_FALSE(waiting.ready(100ms));
    wall.by(step);
    CHECK(std::get<0>(waiting.get()) == Error::timed_out);
    CHECK(std::chrono::steady_clock::now() - start >= 500ms);
    CHECK(session.state() == SessionState::connected);
  }
  CHECK(lease.is_held());
  CHECK_FALSE(sync(session));
}

TEST_CASE("the time of a suspended machine counts: a lock that was lost meanwhile is known to be lost",
          "[faults]") {  // [F55]
  // So long that it is not the time of the test itself that ends the session.
  constexpr auto timeout = 60s;
  testing::TestServer server{{.tick = 5s}};
  const Client client = make_client(server, timeout);
  const Session session = connected_session(client);
  const InterProcessMutex mutex{client, "/lock"};
  const Lease lease = acquire(mutex);
  server.kill();
  REQUIRE(eventually([&] { return session.state() == SessionState::suspended; }));
  const Jump suspension{was_suspended};
  suspension.by(timeout);
  CHECK(eventually([&] { return session.state() == SessionState::expired; }));
  CHECK(eventually([&] { return lease.state() == LeaseState::lost; }));
}

TEST_CASE("the C client's count of requests overflows without harm") {  // [F84]
  first_request = (time_t{1} << 31) - 50;
  const testing::TestServer server;
  const Client client = make_client(server);
  const Session session = connected_session(client);
  int failures = 0;
  for (int i = 0; i < 200; ++i) failures += sync(session) ? 1 : 0;
  CHECK(failures == 0);
}

TEST_CASE("a request whose number the C client keeps for itself may fail, and nothing else does") {  // [F84]
  first_request = -20;
  const testing::TestServer server;
  const Client client = make_client(server, 3s);
  const Session session = connected_session(client);
  CHECK_FALSE(sync(session));
  first_request = 0;  // the C client calls time() again at -1
  int failures = 0;
  for (int i = 0; i < 40; ++i) {
    const error_code error = sync(session);
    if (!error) continue;
    ++failures;
    CAPTURE(i, error);
    CHECK(outcome_of(error) == Outcome::ambiguous);
    REQUIRE(eventually([&] { return session.state() == SessionState::connected; }));
  }
  CHECK(failures <= 4);
}
