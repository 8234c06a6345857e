// Processes in three languages that work on one path, and each of which is killed once.
#include "crowd.hpp"
#include "peer.hpp"
#include "support/catch.hpp"
#include "support/operations.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

/// A place in the fleet, whichever process has it.
struct Member {
  std::string batch;                            ///< the order that it obeys again and again
  std::string hold;                             ///< the order to take a turn and keep it, for one to be killed so
  std::function<std::unique_ptr<Peer>()> hire;  ///< starts a process
  std::unique_ptr<Peer> peer = hire();
  bool has_worked = false;

  void begin(const std::string& order) const { peer->begin(order); }
  void finish() const {
    REQUIRE(eventually([&] { return peer->has_answered(); }, 60s));
    REQUIRE(peer->outcome() == "yes");
  }
};

struct Fleet {
  static constexpr int places = 3;  ///< of each library
  testing::TestServer server{{.tick = long_tick}};
  Client client = make_client(server, long_session_timeout);  // while the processes compute
  Session session = connected_session(client);
  const std::string path = "/fleet/orders";
  const std::string number = path + "/number";
  const std::filesystem::path log = server.directory() / "log";
  std::vector<Member> members{};

  /// A directory that is reaped numbers its nodes from the start again, and Kazoo does not make it again.
  Fleet() { REQUIRE_FALSE(create(client, path, "", CreateOptions{CreateMode::persistent}.creating_parents())); }

  /// Turns of that kind. Of each library the first process is killed at any moment, the second while it has its turn,
  /// and the third while it waits for that one, with a process of another library behind it.
  template <class Library>
  void take_turns(const std::string& kind, int batch) {
    const std::string where = kind + " " + path + " ";
    hire<Library>("work " + where + "1 " + std::to_string(batch), "hold " + where);
  }

  /// Additions of 1 to one number.
  template <class Library>
  void count(const std::string& order, int batch) {
    hire<Library>(order + " " + number + " 1 " + std::to_string(batch), "");
  }

  template <class Library>
  void hire(const std::string& batch, const std::string& hold) {
    for (int i = 0; i < places; ++i)
      members.push_back({.batch = batch + " " + log.string(),
                         .hold = i == 1 && !hold.empty() ? hold + log.string() : "",
                         .hire = [this] { return std::make_unique<Library>(server, 4s); }});
  }

  void kill(const Member& victim) const {
    const pid_t process = victim.peer->pid();
    victim.peer->kill();
    std::ofstream{log, std::ios::app} << "killed " + std::to_string(process) + "\n";
  }
  static void replace(Member& killed) {
    killed.peer = killed.hire();
    killed.begin(killed.batch);
  }

  /// The holder lives until the server has removed the node of the killed waiter: the one behind that must wait on.
  void kill_waiter_and_holder(Member& holder, Member& waiter, const Member& behind) {
    for (const Member& each : members) each.finish();
    const auto has_queue = [&](std::size_t length) {
      return eventually([&] { return children_of(session, path).size() == length; });
    };
    holder.begin(holder.hold);
    holder.finish();
    REQUIRE(has_queue(1));
    waiter.begin(waiter.batch);
    REQUIRE(has_queue(2));
    behind.begin(behind.batch);
    REQUIRE(has_queue(3));
    kill(waiter);
    REQUIRE(has_queue(2));
    CHECK_FALSE(eventually([&] { return read_grants(log).overlaps > 0; }, 200ms));
    kill(holder);
    replace(waiter);
    replace(holder);
    for (const Member& each : members)
      if (&each != &holder && &each != &waiter && &each != &behind) each.begin(each.batch);
  }

  /// Those that have done a batch begin the next one. Returns how many.
  std::size_t renew() {
    std::size_t done = 0;
    for (Member& each : members) {
      if (!each.peer->has_answered()) continue;
      each.finish();
      each.has_worked = true;
      each.begin(each.batch);
      ++done;
    }
    return done;
  }

  /// Until that many batches are done. Each process that the fleet begins with is killed meanwhile, when it has done
  /// one.
  void work_under_kills(std::size_t batches) {
    for (const Member& each : members) each.begin(each.batch);
    std::size_t killed = 0;
    for (std::size_t done = 0; done < batches || killed < members.size();) {
      REQUIRE(done < 20 * batches);  // or the others do all the work
      std::size_t more = 0;
      REQUIRE(eventually([&] { return (more = renew()) > 0; }, 60s));
      done += more;
      if (killed == members.size() || !members[killed].has_worked || done * members.size() < (killed + 1) * batches)
        continue;
      Member& victim = members[killed++];
      if (!victim.hold.empty()) {
        Member& of_another_library = members[(killed + places) % members.size()];
        kill_waiter_and_holder(victim, members[killed++], of_another_library);
      } else {
        kill(victim);
        replace(victim);
      }
    }
    for (const Member& each : members) each.finish();
  }

  void check_turns() const {
    const Grants grants = read_grants(log);
    CHECK(grants.overlaps == 0);
    CHECK(grants.overtakings == 0);
    CHECK(grants.killed_inside >= static_cast<int>(members.size()) / places);
    CHECK(grants.processes.size() == 2 * members.size());  // the killed, and those in their places
    CHECK(eventually([&] { return children_of(session, path).empty(); }));
  }

  void check_count() const {
    std::set<std::string> processes;
    std::set<int> values;
    int confirmed = 0;
    std::ifstream lines{log};
    for (std::string word, process; lines >> word >> process;) {
      int value = 0;
      if (word == "killed" || !(lines >> value)) continue;
      processes.insert(process);
      values.insert(value);
      ++confirmed;
    }
    const int unknown = SharedCount{client, number, 0}.get().value - confirmed;
    CHECK(static_cast<int>(values.size()) == confirmed);
    CHECK(unknown >= 0);
    CHECK(unknown <= static_cast<int>(members.size()));  // what each killed process was at
    CHECK(processes.size() == 2 * members.size());
  }
};

}  // namespace

TEST_CASE_METHOD(Fleet,
                 "three processes each of zklock, Curator and Kazoo, each killed once: no overlap, first come, first "
                 "served") {
  take_turns<Zklock>("mutex", 100);
  take_turns<Curator>("mutex", 100);
  take_turns<Kazoo>("curator-lock", 100);
  work_under_kills(100);
  CHECK(read_grants(log).number >= 10'000);
  check_turns();
}

TEST_CASE_METHOD(Fleet, "three latches of zklock and three of Curator, each killed once: never two leaders") {
  take_turns<Zklock>("latch", 10);
  take_turns<Curator>("latch", 10);
  work_under_kills(60);
  check_turns();
}

TEST_CASE_METHOD(Fleet, "three selectors of zklock and three of Curator, each killed once: never two leaders") {
  take_turns<Zklock>("selector", 10);
  take_turns<Curator>("selector", 10);
  work_under_kills(60);
  check_turns();
}

TEST_CASE_METHOD(Fleet, "three selectors of zklock and three Elections of Kazoo, each killed once: never two leaders") {
  take_turns<Zklock>("election", 10);
  take_turns<Kazoo>("election", 10);
  work_under_kills(60);
  check_turns();
}

TEST_CASE_METHOD(Fleet, "three processes each of zklock, Curator and Kazoo count, each killed once: nothing is lost") {
  CHECK(SharedCount{client, number, 0}.get().value == 0);  // before Kazoo makes it empty, which Curator cannot read
  count<Zklock>("add", 50);
  count<Curator>("add", 50);
  count<Kazoo>("add_often", 5);
  work_under_kills(60);
  check_count();
}
