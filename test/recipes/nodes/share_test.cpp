// How items are divided among members.
#include "support/catch.hpp"

#include <zklock/recipes/nodes/share.hpp>

#include <algorithm>
#include <random>

using namespace zklock;

namespace {

std::vector<std::string> names(const std::string& start, int number) {
  std::vector<std::string> all;
  for (int i = 0; i < number; ++i) all.push_back(start + std::to_string(i));
  return all;
}

}  // namespace

TEST_CASE("each item belongs to one member, and all members compute the same shares") {
  const auto items = names("partition-", 100);
  auto members = names("host-", 7);
  const auto shares = share(items, members);
  std::vector<std::string> all;
  for (const auto& [member, own] : shares) {
    for (const std::string& item : own) CHECK(share_owner(item, members) == member);
    all.insert(all.end(), own.begin(), own.end());
  }
  std::ranges::sort(all);
  auto sorted = items;
  std::ranges::sort(sorted);
  CHECK(all == sorted);
  std::mt19937 random{1};
  for (int i = 0; i < 20; ++i) {
    std::shuffle(members.begin(), members.end(), random);
    CHECK(share(items, members) == shares);
  }
}

TEST_CASE("when a member comes or goes, only the items move that it gets or had") {
  const auto items = names("", 500);
  auto members = names("m", 1);
  for (int n = 1; n < 20; ++n) {
    auto more = members;
    more.push_back("m" + std::to_string(n));
    for (const std::string& item : items) {
      const std::string before = share_owner(item, members);
      const std::string after = share_owner(item, more);
      CHECK((after == before || after == more.back()));
    }
    members = std::move(more);
  }
}

TEST_CASE("the shares are about as large as each other, also for names that differ by one letter") {
  for (const int number : {2, 3, 10, 64}) {
    const auto shares = share(names("p", 6400), names("host-a", number));
    const auto fair = 6400 / static_cast<std::size_t>(number);
    for (const auto& [member, own] : shares) {
      CAPTURE(number, member);
      CHECK(own.size() > fair / 2);
      CHECK(own.size() < fair * 3 / 2);
    }
  }
}

TEST_CASE("without members there are no shares, and without items they are empty") {
  CHECK(share({"a"}, {}).empty());
  CHECK(share_owner("a", {}).empty());
  CHECK(share({}, {"m"}) == std::map<std::string, std::vector<std::string>>{{"m", {}}});
  CHECK(share({"a"}, {"m", "m"}) == std::map<std::string, std::vector<std::string>>{{"m", {"a"}}});
}

TEST_CASE("the shares are the same in all versions: members of different ones must agree") {
  const std::vector<std::string> members{"alpha", "beta", "gamma"};
  std::string owners;
  for (const std::string& item : names("partition-", 16)) owners += share_owner(item, members).front();
  CHECK(owners == "aaabaagbbbbgbbaa");
}
