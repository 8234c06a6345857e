// The watches of a real server and of the fake ensemble, which fire alike.
#include "ensemble_contract.hpp"

#include <boost/asio/bind_executor.hpp>

#include <mutex>

using namespace zklock;
using namespace zklock::test;

CONTRACT("contract: a create, new data or a delete fires a watch on existence") {
  const std::string node = path + "/n";
  Watched creation{watch_existence(node)};
  made(node);
  CHECK(creation.type() == WatchEventType::node_created);
  Watched change{watch_existence(node)};
  made(node + "/child");
  REQUIRE_FALSE(set_acl(node, open_acl()));
  REQUIRE_FALSE(remove(node + "/child"));
  CHECK_FALSE(change.event.ready());
  REQUIRE_FALSE(std::get<0>(set(node, "x")));
  CHECK(change.type() == WatchEventType::node_data_changed);
  Watched deletion{watch_existence(node)};
  REQUIRE_FALSE(remove(node));
  CHECK(deletion.type() == WatchEventType::node_deleted);
}

CONTRACT("contract: new data or a delete fires a watch on data") {
  Watched change{watch_data(path)};
  made(path + "/child");
  CHECK(std::get<0>(set(path, "x", 7)) == Error::bad_version);
  CHECK_FALSE(change.event.ready());
  REQUIRE_FALSE(std::get<0>(set(path, "x")));
  CHECK(change.type() == WatchEventType::node_data_changed);
  Watched deletion{watch_data(path)};
  REQUIRE_FALSE(remove(path + "/child"));
  CHECK_FALSE(deletion.event.ready());
  REQUIRE_FALSE(remove(path));
  CHECK(deletion.type() == WatchEventType::node_deleted);
}

CONTRACT("contract: a new child, a deleted child or a delete fires a watch on children") {
  const std::string child = path + "/child";
  Watched arrival{watch_children(path)};
  REQUIRE_FALSE(std::get<0>(set(path, "x")));
  REQUIRE_FALSE(set_acl(path, open_acl()));
  CHECK_FALSE(arrival.event.ready());
  made(child);
  CHECK(arrival.type() == WatchEventType::node_children_changed);
  Watched departure{watch_children(path)};
  REQUIRE_FALSE(std::get<0>(set(child, "x")));
  made(child + "/grandchild");
  REQUIRE_FALSE(remove(child + "/grandchild"));
  CHECK_FALSE(departure.event.ready());
  REQUIRE_FALSE(remove(child));
  CHECK(departure.type() == WatchEventType::node_children_changed);
  Watched deletion{watch_children(path)};
  REQUIRE_FALSE(remove(path));
  CHECK(deletion.type() == WatchEventType::node_deleted);
}

CONTRACT("contract: the event of a node that its client may not read is told or dropped, and spends the watch") {
  const Caller owner{backend.client({.auth = {{"digest", "owner:secret"}}})};
  const std::string absent = path + "/absent";
  owner.made(path + "/open");
  Watched change{watch_data(path + "/open")};
  Watched creation{watch_existence(absent)};
  Watched arrival{watch_children(path)};
  const std::size_t watches = backend.watches();
  REQUIRE_FALSE(owner.set_acl(path + "/open", creator_all_acl()));
  REQUIRE_FALSE(std::get<0>(owner.set(path + "/open", "x")));
  owner.made(absent, "", NodeOptions{CreateMode::persistent, creator_all_acl()});
  CHECK(arrival.type() == WatchEventType::node_children_changed);  // the parent may be read
  CHECK(backend.watches() == watches - 3);
  stat(path);  // events that were sent before this reply have come
  CHECK(change.event.ready() != backend.hides_events());
  CHECK(creation.event.ready() != backend.hides_events());
}

CONTRACT("contract: a watch fires once, and one deletion fires both of a node's watches") {
  Watched data{watch_data(path)};
  Watched children{watch_children(path)};
  Watched again{watch_children(path)};
  CHECK(backend.watches() == 2);
  REQUIRE_FALSE(remove(path));
  CHECK(data.type() == WatchEventType::node_deleted);
  CHECK(children.type() == WatchEventType::node_deleted);
  CHECK(again.type() == WatchEventType::node_deleted);
  CHECK(backend.watches() == 0);
  made(path);
  CHECK(data.event.completions() == 1);
}

CONTRACT("contract: a read that fails leaves no watch, but for existence") {
  const std::string none = path + "/none";
  const auto [no_data, data, data_watch] =
      wait<DataResult, Watch>([&](auto token) { session.async_get_data_and_watch(none, std::move(token)); });
  CHECK(no_data == Error::no_node);
  const auto [no_list, list, list_watch] =
      wait<ChildrenResult, Watch>([&](auto token) { session.async_get_children_and_watch(none, std::move(token)); });
  CHECK(no_list == Error::no_node);
  CHECK(backend.watches() == 0);
  {
    const Watch kept = watch_existence(none);
    CHECK(backend.watches() == 1);
  }
  CHECK(eventually([&] { return backend.watches() == 0; }));
}

CONTRACT("contract: a watch's event comes before the reply of a later read, and of the session's own write") {
  const Caller other{backend.client()};
  for (const bool own : {false, true}) {
    Watch watch = watch_data(path);
    std::mutex mutex;
    std::string order;
    const auto note = [&](char what) {
      const std::lock_guard lock{mutex};
      order += what;
    };
    watch.async_wait(asio::bind_executor(session.get_executor(), [&](error_code, const WatchEvent&) { note('e'); }));
    const Caller& writer = own ? *this : other;
    Pending<Stat> written;
    writer.session.async_set_data(
        path, "new", [&, done = written.handler()](error_code error, Stat stat) mutable { done(error, stat); });
    if (own) {
      session.async_sync(path, asio::bind_executor(session.get_executor(), [&](error_code) { note('r'); }));
    } else {
      REQUIRE_FALSE(std::get<0>(written.get()));
      session.async_get_data(
          path, asio::bind_executor(session.get_executor(), [&](error_code, const DataResult&) { note('r'); }));
    }
    CHECK(eventually([&] {
      const std::lock_guard lock{mutex};
      return order.size() == 2;
    }));
    CHECK(order == "er");
  }
}
