// A limit that all processes share: each may change it, all follow it, and no change is lost.
//
// Prints "followed: 100", whose change was refused, "followed: 125".
#include "support/ensemble.hpp"

#include <zklock/recipes/shared/shared_count.hpp>

#include <exception>
#include <iostream>

int main() try {
  const example::Ensemble ensemble;
  const zklock::Client client{{.connect_string = ensemble.connect_string()}};
  const zklock::Client other{{.connect_string = ensemble.connect_string()}};
  const zklock::SharedCount limit{client, "/limits/rate", 100};  // 100: where there is none
  const zklock::SharedCount same{other, "/limits/rate", 100};

  // Both processes read 100, and want to raise it.
  const auto known = limit.get();
  const auto known_too = same.get();
  auto values = same.values();
  std::cout << "followed: " << values.next().value->value << '\n';

  const auto first = limit.compare_and_set(known, known.value + 20);
  const auto second = same.compare_and_set(known_too, known_too.value + 5);
  std::cout << "first: " << (first.is_set ? "set" : "refused") << '\n';
  std::cout << "second: " << (second.is_set ? "set" : "refused") << ", it is " << second.current->value << '\n';

  // The second one begins from what is there now.
  const auto again = same.compare_and_set(*second.current, second.current->value + 5);
  std::cout << "again: " << (again.is_set ? "set" : "refused") << '\n';

  // A slow follower may miss the 120, never the last value.
  auto last = values.next().value->value;
  while (last != again.current->value) last = values.next().value->value;
  std::cout << "followed: " << last << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
