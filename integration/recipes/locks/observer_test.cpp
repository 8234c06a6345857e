// Observers of real locks, on a real server.
#include "support/catch.hpp"
#include "support/event_books.hpp"
#include "support/fixture.hpp"
#include "support/log.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <thread>
#include <vector>

using namespace zklock;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

/// Keeps the tokens of the grants, and the last holder and state that it was told of.
struct Recorder : EventBooks {
  void on_lock(const LockEvent& event) override {
    EventBooks::on_lock(event);
    const std::lock_guard lock{mutex};
    if (event.phase == LockPhase::granted) tokens.push_back(event.fencing_token);
    if (event.phase == LockPhase::lost) cause = event.cause;
    if (event.phase == LockPhase::slow && event.holder) holder = event.holder->client_id;
    if (event.phase == LockPhase::slow && event.holder) holder_session = event.holder->session_id;
  }
  void on_state(const StateEvent& event) override {
    const std::lock_guard lock{mutex};
    states.push_back(event.to);
  }

  template <class T>
  T get(T Recorder::*member) {
    const std::lock_guard lock{mutex};
    return this->*member;
  }

  std::mutex mutex{};
  std::vector<std::int64_t> tokens{};
  std::string cause{};
  std::string holder{};
  std::int64_t holder_session = 0;
  std::vector<ConnectionState> states{};
};

ClientConfig config(const testing::TestServer& server, std::shared_ptr<Observer> observer) {
  return {.connect_string = server.connect_string(),
          .session_timeout = session_timeout,
          .observers = {std::move(observer)}};
}

}  // namespace

TEST_CASE("an observer of several clients is told of each grant with its token, and nothing stays under way") {
  auto& server = shared_server();
  const auto recorder = std::make_shared<Recorder>();
  const std::string path = fresh_path();
  constexpr int rounds = 25;
  std::mutex granted_mutex;
  std::vector<std::int64_t> granted;
  {
    const Client one{config(server, recorder)};
    const Client other{config(server, recorder)};
    std::vector<std::jthread> threads;
    for (const Client* client : {&one, &one, &other, &other})
      threads.emplace_back([&, client] {
        const InterProcessMutex mutex{*client, path};
        for (int i = 0; i < rounds; ++i) {
          const Lease lease = acquire(mutex);
          const std::lock_guard lock{granted_mutex};
          granted.push_back(lease.fencing_token());
        }
      });
  }
  CHECK(recorder->get(&Recorder::tokens) == granted);
  const auto seen = recorder->seen();
  CHECK(seen.mistakes.empty());
  CHECK(seen.nothing_under_way());
  CHECK(seen.attempts.begun == 4 * rounds);
  CHECK(seen.grants.begun == 4 * rounds);
  CHECK(seen.requests.begun > 4 * rounds);
}

TEST_CASE("a slow waiter names the client that holds the lock, in the log and to its observer") {
  auto& server = shared_server();
  const Log log{LogLevel::warning};
  const auto recorder = std::make_shared<Recorder>();
  const std::string path = fresh_path();
  const Client holder = make_client(server);
  const Lease lease = acquire(InterProcessMutex{holder, path});
  ClientConfig waiting = config(server, recorder);
  waiting.slow_wait = 300ms;
  waiting.logger = log.logger();
  const Client waiter{waiting};
  InterProcessMutex wanted{waiter, path};
  CHECK_FALSE(wanted.try_lock_for(2s));  // the waiter is slow after 300 ms, and again after 3 s
  CHECK(recorder->get(&Recorder::holder) == holder.client_id());
  CHECK(recorder->get(&Recorder::holder_session) == holder.session().id());
  INFO(log.text());
  CHECK(log.with({"event=slow", "1 ahead; held by \"" + holder.client_id() + "\""}).size() == 1);
}

TEST_CASE("an observer is told of a killed server, and of the lock that is lost with it") {
  testing::TestServer server;
  const auto recorder = std::make_shared<Recorder>();
  {
    ClientConfig quick = config(server, recorder);
    quick.session_timeout = 3s;
    const Client client{quick};
    const Lease lease = acquire(InterProcessMutex{client, "/lock"});
    server.kill();
    REQUIRE(eventually([&] { return !recorder->get(&Recorder::cause).empty(); }));
    CHECK(recorder->seen().phases[LockPhase::suspect] == 1);
    server.start();
    REQUIRE(eventually([&] { return recorder->get(&Recorder::states).back() == ConnectionState::reconnected; }));
  }
  const auto seen = recorder->seen();
  CHECK(seen.mistakes.empty());
  CHECK(seen.nothing_under_way());
  CHECK(recorder->get(&Recorder::states).back() == ConnectionState::closed);
}
