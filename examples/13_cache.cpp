// A service's configuration, kept up to date in memory, and an operator who changes it.
//
// Prints:
//   live: limits/rate = 10
//   changed: limits/rate = 20
//   created: limits/burst = 50
//   deleted: limits/burst
//   bursts are free, and rate is 20
#include "support/ensemble.hpp"

#include <zklock/recipes/caches/curator_cache.hpp>

#include <boost/asio/use_future.hpp>

#include <iostream>
#include <string>

using zklock::CacheEvent;

/// Text after the root of the configuration.
static std::string name_of(const std::string& path) { return path.substr(std::string{"/config/"}.size()); }

int main() try {
  const example::Ensemble ensemble;
  const zklock::Client operations{{.connect_string = ensemble.connect_string()}};
  const auto create = [&](const std::string& path, const std::string& data) {
    const auto options = zklock::CreateOptions{zklock::CreateMode::persistent}.creating_parents();
    operations.async_create(path, data, options, boost::asio::use_future).get();
  };
  create("/config/limits/rate", "10");

  const zklock::Client service{{.connect_string = ensemble.connect_string()}};
  const zklock::CuratorCache config{service, "/config"};
  config.wait_initialized();
  std::cout << "live: limits/rate = " << config.get("/config/limits/rate")->data << '\n';

  zklock::CacheEvents changes = config.events();  // begins with all that is there
  while (changes.next().type != CacheEvent::Type::initialized) continue;
  const auto tell_next = [&] {
    CacheEvent change = changes.next();
    while (change.path.empty()) change = changes.next();  // of the cache as a whole: that it is live, say
    std::cout << to_string(change.type) << ": " << name_of(change.path);
    if (change.now) std::cout << " = " << change.now->data;  // a deleted node has none
    std::cout << '\n';
  };
  operations.async_set_data("/config/limits/rate", "20", boost::asio::use_future).get();
  tell_next();
  create("/config/limits/burst", "50");
  tell_next();
  operations.async_remove("/config/limits/burst", boost::asio::use_future).get();
  tell_next();  // what is not read in time is merged: then it would be as if the node had never been there
  const bool is_limited = config.get("/config/limits/burst") != nullptr;
  std::cout << "bursts are " << (is_limited ? "limited" : "free") << ", and rate is "
            << config.get("/config/limits/rate")->data << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
