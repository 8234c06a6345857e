// The behaviour that all recipes share which follow nodes, or keep one there. Each test runs for each of them, on the
// fake ensemble, on one server, and on three. That of locks and elections: locks/lock_contract_test.cpp.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/operations.hpp"
#include "support/worlds.hpp"

#include <zklock/recipes/caches/curator_cache.hpp>
#include <zklock/recipes/caches/watching.hpp>
#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/nodes/group_member.hpp>
#include <zklock/recipes/nodes/persistent_node.hpp>
#include <zklock/recipes/nodes/persistent_ttl_node.hpp>
#include <zklock/recipes/shared/shared_count.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace zklock;
using namespace zklock::test;

namespace {

// ---- what follows

/// The number that a follower shows now; 0: none.
using Shown = std::function<int()>;

struct Follower {
  std::string name;
  /// Another client makes it the number.
  std::function<void(const Client&, const std::string&, int)> write;
  /// Follows until the function is destroyed.
  std::function<Shown(const Client&, const std::string&)> follow;
};

void put(const Client& client, const std::string& path, int number) {
  REQUIRE_FALSE(create(client, path, std::to_string(number),
                       CreateOptions{CreateMode::persistent}.creating_parents().or_set_data()));
}

template <class Stream, class Number>
Shown last_of(Stream stream, Number number_of) {
  return [stream = std::make_shared<Stream>(std::move(stream)), number_of, last = 0]() mutable {
    while (const auto event = stream->next(0ms)) last = number_of(*event);
    return last;
  };
}

/// There is one child, which has the number's name.
void name_child(const Client& client, const std::string& path, int number) {
  put(client, path + "/" + std::to_string(number), number);
  for (const std::string& child : children_of(connected_session(client), path))
    if (child != std::to_string(number)) REQUIRE_FALSE(remove(client, path + "/" + child));
}

/// The first candidate has the number as its id.
void lead_as(const Client& client, const std::string& path, int number) {
  const auto options = CreateOptions{CreateMode::ephemeral_sequential}.creating_parents().with_protection();
  std::string made;
  REQUIRE_FALSE(create(client, path + "/latch-", std::to_string(number), options, &made));
  for (const std::string& child : children_of(connected_session(client), path))
    if (path + "/" + child != made) REQUIRE_FALSE(remove(client, path + "/" + child));
}

const std::vector<Follower>& followers() {
  static const std::vector<Follower> all{
      {"watch_data", put,
       [](auto& client, auto& path) {
         return last_of(watch_data(client, path),
                        [](const DataChange& change) { return change.node ? std::stoi(change.node->data) : 0; });
       }},
      {"watch_children", name_child,
       [](auto& client, auto& path) {
         return last_of(watch_children(client, path), [](const ChildrenChange& change) {
           return change.names.size() == 1 ? std::stoi(change.names.front()) : 0;
         });
       }},
      {"CuratorCache", [](auto& client, auto& path, int number) { put(client, path + "/leaf", number); },
       [](auto& client, auto& path) -> Shown {
         return [cache = std::make_shared<CuratorCache>(client, path), leaf = path + "/leaf"] {
           const ChildDataPtr shown = cache->get(leaf);
           return shown ? std::stoi(shown->data) : 0;
         };
       }},
      {"Group", [](auto& client, auto& path, int number) { put(client, path + "/member", number); },
       [](auto& client, auto& path) -> Shown {
         return [group = std::make_shared<Group>(client, path)] {
           const GroupMembers now = group->members();
           const auto member = now.members.find("member");
           return member == now.members.end() ? 0 : std::stoi(member->second.payload);
         };
       }},
      {"SharedCount",
       [](auto& client, auto& path, int number) {
         SharedCount{client, path, 0}.set(number);
       },
       [](auto& client, auto& path) {
         return last_of(SharedCount{client, path, 0}.values(),
                        [](const auto& change) { return change.value ? change.value->value : 0; });
       }},
      {"SharedValue",
       [](auto& client, auto& path, int number) {
         SharedValue{client, path, ""}.set(std::to_string(number));
       },
       [](auto& client, auto& path) {
         return last_of(SharedValue{client, path, ""}.values(), [](const auto& change) {
           return change.value && !change.value->value.empty() ? std::stoi(change.value->value) : 0;
         });
       }},
      {"LeaderLatch::leaders", lead_as, [](auto& client, auto& path) {
         return last_of(LeaderLatch{client, path}.leaders(),
                        [](const std::optional<Leader>& leader) { return leader ? std::stoi(leader->id) : 0; });
       }}};
  return all;
}

// ---- what keeps a node there

struct Kept {
  std::function<bool()> is_present;
  std::function<void()> close;
};

struct Keeper {
  std::string name;
  /// Keeps one node below the path.
  std::function<Kept(const Client&, const std::string&)> keep;
};

template <class Node>
Kept kept(std::shared_ptr<Node> node) {
  return {[node] { return node->is_present(); }, [node] { node->close(); }};
}

const std::vector<Keeper>& keepers() {
  static const std::vector<Keeper> all{
      {"PersistentNode",
       [](auto& client, auto& path) { return kept(std::make_shared<PersistentNode>(client, path + "/node", "data")); }},
      {"PersistentTtlNode",
       [](auto& client, auto& path) {
         return kept(std::make_shared<PersistentTtlNode>(client, path + "/node", 1s, "data"));
       }},
      {"GroupMember",
       [](auto& client, auto& path) -> Kept {
         const auto member = std::make_shared<GroupMember>(client, path, "member", "data");
         return {[member] { return member->own().has_value(); }, [member] { member->close(); }};
       }},
      {"LeaderLatch::stand", [](auto& client, auto& path) -> Kept {
         const auto standing = std::make_shared<std::optional<CandidacyStream>>(LeaderLatch{client, path}.stand());
         return {[standing] { return (*standing)->has_leadership(); }, [standing] { standing->reset(); }};
       }}};
  return all;
}

/// Runs the body for each of them in each world, with a client that looks, and another one.
template <class Kinds, class Body>
void for_each(const Kinds& kinds, Body body) {
  for (const auto& world : worlds()) {
    const Client observer = world->client();
    for (const auto& kind : kinds) {
      INFO(kind.name << " on " << world->name());
      Client client = world->client();
      connected_session(client);
      body(*world, kind, observer, client, "/contract" + fresh_path());
    }
  }
}

std::size_t nodes_below(const Client& client, const std::string& path) {
  const Session session = connected_session(client);
  REQUIRE_FALSE(sync(session));
  return children_of(session, path).size();
}

}  // namespace

TEST_CASE("each follower shows what is there when it begins, then the last state, and leaves no watch") {
  for_each(followers(),
           [](World& world, const Follower& kind, const Client& other, const Client& client, const std::string& path) {
             kind.write(other, path, 1);
             Shown shown = kind.follow(client, path);
             CHECK(eventually([&] { return shown() == 1; }));
             for (int number = 2; number <= 20; ++number) kind.write(other, path, number);
             CHECK(eventually([&] { return shown() == 20; }));
             shown = nullptr;
             CHECK(eventually([&] { return world.watches() == 0; }));
           });
}

TEST_CASE("each follower of what is not there yet shows it when it comes") {
  for_each(followers(),
           [](World&, const Follower& kind, const Client& other, const Client& client, const std::string& path) {
             Shown shown = kind.follow(client, path);
             CHECK(shown() == 0);
             kind.write(other, path, 7);
             CHECK(eventually([&] { return shown() == 7; }));
           });
}

TEST_CASE("each follower shows the last state also after its session was ended") {
  for_each(followers(),
           [](World& world, const Follower& kind, const Client& other, const Client& client, const std::string& path) {
             kind.write(other, path, 1);
             Shown shown = kind.follow(client, path);
             REQUIRE(eventually([&] { return shown() == 1; }));
             world.expire(connected_session(client));
             kind.write(other, path, 2);
             CHECK(eventually([&] { return shown() == 2; }));
             kind.write(other, path, 3);
             CHECK(eventually([&] { return shown() == 3; }));
           });
}

TEST_CASE("each kept node is there until it is closed, and its object leaves no watch") {
  for_each(keepers(),
           [](World& world, const Keeper& kind, const Client& observer, const Client& client, const std::string& path) {
             Kept node = kind.keep(client, path);
             CHECK(eventually([&] { return node.is_present(); }));
             CHECK(eventually([&] { return nodes_below(observer, path) == 1; }));
             node.close();
             CHECK(eventually([&] { return nodes_below(observer, path) == 0; }));
             node = {};
             CHECK(eventually([&] { return world.watches() == 0; }));
           });
}

TEST_CASE("each kept node is there again, once, after its session was ended") {
  for_each(keepers(),
           [](World& world, const Keeper& kind, const Client& observer, const Client& client, const std::string& path) {
             const Kept node = kind.keep(client, path);
             REQUIRE(eventually([&] { return node.is_present(); }));
             const Session lost = connected_session(client);
             world.expire(lost);
             REQUIRE(eventually([&] { return client.session().id() != lost.id(); }));
             CHECK(eventually([&] { return node.is_present() && nodes_below(observer, path) == 1; }));
           });
}

TEST_CASE("each kept node goes when its client is closed") {
  for_each(keepers(), [](World&, const Keeper& kind, const Client& observer, Client& client, const std::string& path) {
    const Kept node = kind.keep(client, path);
    REQUIRE(eventually([&] { return node.is_present(); }));
    client.close();
    CHECK(eventually([&] { return !node.is_present(); }));
    CHECK(eventually([&] { return nodes_below(observer, path) == 0; }));
  });
}
