// What a watch on a lock's directory proves, and what ends the proof.
#include "directory_watch.hpp"

#include "local_queue.hpp"
#include "sequence_number.hpp"
#include "support/catch.hpp"

#include <zklock/testing/simulation.hpp>

#include <boost/asio/bind_executor.hpp>

#include <iterator>
#include <limits>
#include <memory>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t ever = std::numeric_limits<std::int64_t>::max();

struct Fixture {
  Simulation simulation{};
  const Client& client = simulation.client("a", {.session_timeout = 40s});
  Session session{};
  std::shared_ptr<DirectoryWatch> watch = std::make_shared<DirectoryWatch>();
  std::vector<std::int64_t> gone{};
  std::int64_t node = 0;  // the czxid of a node in the directory

  Fixture() {
    simulation.ensemble().set_latency(1ms);
    run(1s);
    session = client.session();
    make("/d");
    node = make("/d/-lock-");
  }
  void run(Clock::duration wait) { simulation.clock().run_for(simulation.context(), wait); }
  auto bound(auto handler) { return asio::bind_executor(session.get_executor(), std::move(handler)); }
  std::int64_t make(const std::string& path) {
    std::int64_t czxid = 0;
    session.async_create(path, "", CreateMode::persistent, bound([&](error_code error, const CreateResult& made) {
                           CHECK_FALSE(error);
                           czxid = made.stat.czxid;
                         }));
    run(10ms);
    return czxid;
  }
  void set(const std::shared_ptr<DirectoryWatch>& on, const std::string& directory = "/d") {
    on->set(session, directory, [this](std::int64_t made_before) { gone.push_back(made_before); });
  }
  [[nodiscard]] bool proves() const { return watch->proves(session, session.connection(), node); }
  [[nodiscard]] std::size_t watches() const { return simulation.ensemble().watches().size(); }
  void replace() {
    simulation.delete_as_operator("/d");
    make("/d");
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a watch that is set proves that the directory is the one in which a node was made") {
  CHECK_FALSE(watch->is_set(session));
  set(watch);
  CHECK(watch->is_set(session));  // the read is under way, ahead of what is requested from now on
  CHECK_FALSE(proves());
  run(10ms);
  CHECK(watch->is_set(session));
  CHECK(proves());
  make("/d/child");
  CHECK(proves());
}

TEST_CASE_METHOD(Fixture, "a node that was made in an earlier directory is not in the one that is watched") {
  replace();
  set(watch);
  run(10ms);
  CHECK(watch->is_set(session));
  CHECK_FALSE(proves());
  REQUIRE(gone.size() == 1);  // it is gone, since it is older than the directory
  CHECK(node < gone[0]);
  node = make("/d/-lock-");
  CHECK(proves());
}

TEST_CASE_METHOD(Fixture, "a directory that does not exist is not watched, and its nodes are gone") {
  simulation.delete_as_operator("/d");
  set(watch);
  run(10ms);
  CHECK_FALSE(watch->is_set(session));
  CHECK_FALSE(watch->is_refused());
  CHECK(watches() == 0);
  CHECK(gone == std::vector{ever});
  make("/d");
  node = make("/d/-lock-");
  CHECK_FALSE(proves());
}

TEST_CASE_METHOD(Fixture, "any event of the directory ends the proof, ahead of the replies that show a later state") {
  set(watch);
  run(10ms);
  bool proven = true;
  SECTION("it is deleted") {
    simulation.delete_as_operator("/d");
    session.async_create("/d", "", CreateMode::persistent, bound([&](error_code error, const CreateResult&) {
                           CHECK_FALSE(error);
                           proven = proves();
                         }));
    run(10ms);
    CHECK(gone.size() == 2);
    CHECK(gone.back() == ever);
  }
  SECTION("its data change") {
    simulation.ensemble().set_data("/d", "x");
    session.async_sync("/d", bound([&](error_code) { proven = proves(); }));
    run(10ms);
    CHECK(watch->is_set(session));  // again
    CHECK(proves());
    CHECK(watches() == 1);
    simulation.delete_as_operator("/d");
    run(10ms);
    CHECK(gone.back() == ever);
  }
  CHECK_FALSE(proven);
  CHECK_FALSE(watch->is_set(session));
  CHECK(watches() == 0);
}

TEST_CASE_METHOD(Fixture, "a watch proves nothing on another connection than its own") {
  set(watch);
  run(10ms);
  const auto connection = session.connection();
  CHECK(proves());
  simulation.ensemble().cut_all();
  run(1s);
  REQUIRE(session.state() == SessionState::connected);
  CHECK(session.connection() != connection);
  CHECK_FALSE(proves());
  CHECK_FALSE(watch->is_set(session));
  set(watch);
  run(10ms);
  CHECK(proves());
  CHECK_FALSE(watch->proves(session, connection, node));  // a reply to a request of the connection before
}

TEST_CASE_METHOD(Fixture, "a watch is set again every two minutes, and has no other watch beside it") {
  set(watch);
  run(119s);
  CHECK(watch->is_set(session));
  run(2s);
  CHECK_FALSE(watch->is_set(session));
  set(watch);
  run(10ms);
  CHECK(watch->is_set(session));
  CHECK(proves());
  CHECK(watches() == 1);
}

TEST_CASE_METHOD(Fixture, "a refused watch is no watch, and is not asked for again at once") {
  session.async_set_acl("/d", {{Permission::create, "world", "anyone"}}, any_version,
                        bound([](error_code error) { CHECK_FALSE(error); }));
  run(10ms);
  set(watch);
  run(10ms);
  CHECK_FALSE(watch->is_set(session));
  CHECK(watch->is_refused());
  CHECK(gone.empty());
  run(61s);
  CHECK_FALSE(watch->is_refused());
}

TEST_CASE_METHOD(Fixture,
                 "the watches of a client have a limit, beyond which the one used least recently is given up") {
  DirectoryWatches all{6};
  std::vector<std::shared_ptr<DirectoryWatch>> each;
  for (const char* path : {"/1", "/2", "/3", "/4"}) {
    make(path);
    node = make(std::string{path} + "/-lock-");
    const auto one = each.emplace_back(std::make_shared<DirectoryWatch>());
    if (each.size() == 4) CHECK(each[0]->proves(session, session.connection(), node));  // it is used
    all.admit(one, 2);
    set(one, path);
    run(10ms);
  }
  CHECK(each[0]->is_set(session));
  CHECK_FALSE(each[1]->is_set(session));
  CHECK(each[2]->is_set(session));
  CHECK(each[3]->is_set(session));
  CHECK(watches() == 3);
  each.clear();
  run(10ms);
  CHECK(watches() == 0);
}

TEST_CASE_METHOD(Fixture,
                 "the client's numbers are asked where they are likely to tell, and the queue is listed else") {
  const auto queue = std::make_shared<LocalQueue>(std::make_shared<DirectoryWatches>(1000));
  const auto enter = [&](std::int32_t sequence) {
    CreateResult made;
    made.path = "/d/-lock-" + std::to_string(sequence);
    made.stat.czxid = ever;
    return queue->enter(session, LockKind::mutex, sequence, std::move(made));
  };
  const auto how = [&](LockKind kind = LockKind::mutex) { return queue->how_to_enqueue(session, kind); };
  const auto leave = [&](const std::shared_ptr<LocalWaiter>& leaving) {
    leaving->dequeue_and_wake(session.get_executor());
  };

  CHECK(how() == EnqueueBy::list);  // the first use
  auto last = enter(0);
  last->grant();
  CHECK(how() == EnqueueBy::list);
  leave(last);
  CHECK(how() == EnqueueBy::list);
  last = enter(1);
  last->grant();
  CHECK(how() == EnqueueBy::watch_and_list);
  leave(last);
  CHECK(how() == EnqueueBy::watch_and_list);
  queue->watch(session, "/d");
  CHECK(how() == EnqueueBy::number);
  last = enter(3);  // other clients' nodes are in between
  last->grant();
  CHECK(how() == EnqueueBy::number);  // it is present
  leave(last);
  CHECK(how() == EnqueueBy::list);
  last = enter(4);
  last->grant();
  leave(last);
  CHECK(how() == EnqueueBy::number);
  last = enter(5);
  leave(last);  // it gave up, so it tells nothing of the node ahead of it
  CHECK(how() == EnqueueBy::list);
  last = enter(6);
  last->grant();
  CHECK(how(LockKind::write) == EnqueueBy::list);  // of another queue
  const auto create = queue->begin_request(session, LockKind::mutex);
  CHECK(create.connection == session.connection());
  CHECK(how() == EnqueueBy::number);
}

namespace {

struct Numbers : Fixture {
  std::shared_ptr<LocalQueue> queue = std::make_shared<LocalQueue>();

  static CreateResult made(std::int32_t sequence, std::int64_t czxid) {
    CreateResult result;
    result.path = "/d/-lock-" + format_sequence(sequence);
    result.stat.czxid = czxid;
    return result;
  }
  std::shared_ptr<LocalWaiter> enter(std::int32_t sequence, std::int64_t czxid) {
    return queue->enter(session, LockKind::write, sequence, made(sequence, czxid));
  }
  std::shared_ptr<LocalWaiter> enter_beside(std::int32_t sequence, std::int64_t czxid) {
    return queue->enter_beside(session, sequence, made(sequence, czxid));
  }
};

}  // namespace

TEST_CASE_METHOD(Numbers, "numbers that begin again tell that the nodes of the directory before are gone") {
  const auto old = {enter(1, 10), enter(4, 12), enter(6, 14), enter_beside(4, 16)};
  (*std::prev(old.end()))->grant();
  for (const auto& each : old) CHECK_FALSE(each->is_deleted());
  const auto zero = enter(0, 20);
  for (const auto& each : old) CHECK(each->is_deleted());
  const auto one = enter(1, 21);
  const auto three = enter(3, 26);
  const auto two = enter(2, 24);  // the reply to its create was lost, and it was found again
  const auto beside_zero = enter_beside(0, 28);
  const auto five = enter(5, 30);
  for (const auto& each : {zero, one, two, three, beside_zero, five}) CHECK_FALSE(each->is_deleted());
  const auto four = enter(4, 40);  // another directory again: its own nodes 0 to 3 are not the client's
  for (const auto& each : {zero, one, two, three, beside_zero, five}) CHECK(each->is_deleted());
  CHECK_FALSE(four->is_deleted());
}

TEST_CASE_METHOD(Numbers, "numbers that come to their end tell nothing of the nodes before") {
  constexpr std::int32_t last = std::numeric_limits<std::int32_t>::max();
  const auto all = {enter(last - 1, 10), enter(last, 12), enter(last, 14), enter(-last - 1, 16), enter(-last, 18)};
  for (const auto& each : all) CHECK_FALSE(each->is_deleted());
}

TEST_CASE_METHOD(Numbers, "a reader that has not been granted by its writer's number tells nothing by it") {
  const auto zero = enter(0, 10);
  const auto reader = enter_beside(4, 12);  // the writer was the fourth of the directory before
  const auto one = enter(1, 14);
  for (const auto& each : {zero, reader, one}) CHECK_FALSE(each->is_deleted());
  reader->grant();
  const auto two = enter(2, 16);
  for (const auto& each : {zero, reader}) CHECK(each->is_deleted());
  for (const auto& each : {one, two}) CHECK_FALSE(each->is_deleted());
}
