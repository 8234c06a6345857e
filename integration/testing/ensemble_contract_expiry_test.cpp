// What a real server and the fake ensemble delete by themselves: with a session, when it is empty, after its time.
#include "ensemble_contract.hpp"

#include <optional>

using namespace zklock;
using namespace zklock::test;

CONTRACT("contract: ephemeral nodes go with their session, closed or expired, and watches see it") {
  const std::string node = path + "/e";
  for (const bool expires : {false, true}) {
    std::optional<Caller> owner{Caller{backend.client()}};
    owner->made(node, "", CreateMode::ephemeral);
    Watched deletion{watch_existence(node)};
    Watched departure{watch_children(path)};
    if (expires) {
      backend.expire(owner->session);
    } else {
      owner.reset();
    }
    CHECK(deletion.type() == WatchEventType::node_deleted);
    CHECK(departure.type() == WatchEventType::node_children_changed);
    CHECK_FALSE(stat(node));
  }
}

CONTRACT("contract: a session that expires ends its watches and its operations with session_expired") {
  const Caller victim{backend.client()};
  Watched orphan{victim.watch_children(path)};
  backend.expire(victim.session);
  CHECK(std::get<0>(orphan.event.get()) == Error::session_expired);
  CHECK(victim.session.state() == SessionState::expired);
  CHECK(std::get<0>(victim.get(path)) == Error::session_expired);
  CHECK(eventually([&] { return backend.watches() == 0; }));
}

CONTRACT("contract: a container that has had a child is deleted when it is empty, and its sequence starts again") {
  const std::string container = path + "/c";
  made(container, "", CreateMode::container);
  const auto enter = [&] { return made(container + "/n-", "", CreateMode::persistent_sequential).path; };
  CHECK(enter() == container + "/n-0000000000");
  const std::string second = enter();
  CHECK(second == container + "/n-0000000001");
  made(path + "/unused", "", CreateMode::container);
  Watched deletion{watch_existence(container)};
  REQUIRE_FALSE(remove(container + "/n-0000000000"));
  REQUIRE_FALSE(remove(second));
  CHECK(deletion.type() == WatchEventType::node_deleted);
  made(container, "", CreateMode::container);
  CHECK(enter() == container + "/n-0000000000");
  CHECK(stat(path + "/unused"));
}

CONTRACT("contract: a node with a time to live is deleted after that time without a change or a child") {
  const std::string node = path + "/t";
  const NodeOptions mortal{CreateMode::persistent_ttl, 50ms};
  made(node, "", mortal);
  CHECK(eventually([&] { return !stat(node); }));
  made(node, "", NodeOptions{CreateMode::persistent_ttl, 1h});
  CHECK(stat(node));
}
