// Services that are there as long as their processes are, and a watcher who sees them come and go.
//
// Prints:
//   joined: alice at 10.0.0.1:80
//   joined: bob at 10.0.0.2:80
//   changed: bob at 10.0.0.9:80
//   left: bob
#include "support/ensemble.hpp"

#include <zklock/recipes/nodes/group_member.hpp>

#include <boost/asio/use_future.hpp>

#include <iostream>
#include <memory>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using zklock::GroupChangeKind;

void print_next(zklock::GroupChangeStream& changes) {
  const zklock::GroupChange change = changes.async_next(asio::use_future).get();
  switch (change.kind) {
    case GroupChangeKind::joined: std::cout << "joined: "; break;
    case GroupChangeKind::changed: std::cout << "changed: "; break;
    case GroupChangeKind::left: std::cout << "left: " << change.id << '\n'; return;
  }
  std::cout << change.id << " at " << change.member.payload << '\n';
}

int main() try {
  const example::Ensemble ensemble;
  const zklock::Client alices{{.connect_string = ensemble.connect_string()}};
  const zklock::Client bobs{{.connect_string = ensemble.connect_string()}};
  const zklock::Client watchers{{.connect_string = ensemble.connect_string()}};

  const zklock::Group shop{watchers, "/services/shop"};
  auto changes = shop.changes();

  // An ephemeral node each. It is created again on each new session, until the object goes.
  const zklock::GroupMember alice{alices, "/services/shop", "alice", "10.0.0.1:80"};
  print_next(changes);
  auto bob = std::make_unique<zklock::GroupMember>(bobs, "/services/shop", "bob", "10.0.0.2:80");
  print_next(changes);
  bob->set_data("10.0.0.9:80");
  print_next(changes);
  bob.reset();
  print_next(changes);
  return shop.wait_for(1, 5s) && alice.is_present() ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
