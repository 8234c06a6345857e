// A transfer that is made exactly once, although its process dies and another one tries again.
//
// Prints "moved", "moved before: by a", "a 90, b 110".
#include "support/ensemble.hpp"

#include <zklock/recipes/ledger/commit_once.hpp>

#include <boost/asio/use_future.hpp>

#include <exception>
#include <iostream>
#include <string>

namespace {

std::string balance(const zklock::Client& client, const std::string& account) {
  return client.async_get_data("/accounts/" + account, boost::asio::use_future).get().data;
}

/// The balances are written only if they are those that were read: version 0.
void transfer(const zklock::Client& client, const std::string& name) {
  zklock::Transaction move;
  move.set_data("/accounts/a", "90", 0).set_data("/accounts/b", "110", 0);
  const auto outcome = zklock::commit_once(client, move, zklock::IdempotencyKey{"order-4711", name});
  std::cout << (outcome.is_repeat ? "moved before: by " + outcome.answer : "moved") << '\n';
}

}  // namespace

int main() try {
  const example::Ensemble ensemble;
  const zklock::Client client{{.connect_string = ensemble.connect_string()}};
  const zklock::Client other{{.connect_string = ensemble.connect_string()}};
  for (const char* account : {"/accounts/a", "/accounts/b"})
    client.async_create(account, "100", zklock::CreateOptions{}.creating_parents(), boost::asio::use_future).get();

  transfer(client, "a");
  transfer(other, "b");
  std::cout << "a " << balance(client, "a") << ", b " << balance(client, "b") << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
