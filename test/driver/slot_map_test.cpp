// Ids that outlive their entries.
#include "slot_map.hpp"

#include "support/catch.hpp"

#include <map>
#include <random>
#include <string>

using zklock::SlotMap;

TEST_CASE("an id finds its entry until the entry is taken, and nothing afterwards") {
  SlotMap<std::string> registry;
  const auto a = registry.add("a");
  const auto b = registry.add("b");
  CHECK(a != 0);
  CHECK(*registry.find(a) == "a");
  CHECK(registry.take(a) == "a");
  CHECK_FALSE(registry.find(a));
  CHECK_FALSE(registry.take(a));
  const auto c = registry.add("c");
  CHECK(c != a);
  CHECK_FALSE(registry.find(a));
  CHECK(*registry.find(b) == "b");
  CHECK(registry.size() == 2);
  CHECK_FALSE(registry.find(0));
  CHECK_FALSE(registry.find(UINT64_MAX));
}

TEST_CASE("a slot map agrees with a map, whatever is added and taken") {
  SlotMap<int> registry;
  std::map<SlotMap<int>::Id, int> model;
  std::mt19937 random{3};
  for (int i = 0; i < 20'000; ++i) {
    if (model.empty() || random() % 2) {
      CHECK(model.emplace(registry.add(i), i).second);
    } else {
      const auto victim = std::next(model.begin(), static_cast<long>(random() % model.size()));
      CHECK(registry.take(victim->first) == victim->second);
      model.erase(victim);
    }
  }
  CHECK(registry.size() == model.size());
  for (const auto id : registry.ids()) CHECK(*registry.find(id) == model.at(id));
}
