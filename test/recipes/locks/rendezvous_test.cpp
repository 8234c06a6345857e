#include "support/catch.hpp"

#include <zklock/recipes/locks/rendezvous.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace zklock;

namespace {

using Candidates = std::vector<RendezvousCandidate>;

constexpr int many = 20'000;

std::string name_of(int number) { return "sku-" + std::to_string(number); }

std::string_view choose(const Candidates& candidates, std::string_view name) {
  return candidates[choose_by_rendezvous(candidates, name)].name;
}

/// How many names each candidate has.
std::vector<int> shares(const Candidates& candidates) {
  std::vector<int> count(candidates.size());
  for (int i = 0; i < many; ++i) ++count[choose_by_rendezvous(candidates, name_of(i))];
  return count;
}

/// How many names move from `before` to `after`; fails for each that moves otherwise than `may_move` says.
template <class MayMove>
int moves(const Candidates& before, const Candidates& after, MayMove may_move) {
  int moved = 0;
  for (int i = 0; i < many; ++i) {
    const std::string name = name_of(i);
    const std::string_view from = choose(before, name);
    const std::string_view to = choose(after, name);
    if (from == to) continue;
    ++moved;
    if (!may_move(from, to)) FAIL_CHECK(name << " moves from " << from << " to " << to);
  }
  return moved;
}

const std::string ensembles[] = {"e0", "e1", "e2",  "e3",  "e4",  "e5",  "e6",  "e7",
                                 "e8", "e9", "e10", "e11", "e12", "e13", "e14", "e15"};

Candidates first(std::size_t number) {
  Candidates candidates;
  for (std::size_t i = 0; i < number; ++i) candidates.push_back({ensembles[i]});
  return candidates;
}

}  // namespace

TEST_CASE("the ensemble of a name is the same in every version and every language") {
  struct Row {
    std::string_view candidate;
    std::uint32_t weight;
    std::string_view name;
    std::uint64_t hash;
    std::uint64_t score;
  };
  // Computed by a program in Python; docs/scaling.md has them, too.
  const Row rows[] = {{"a", 1, "sku-42", 0x06b8452b4c37617aU, 0xd485cc6cf62e74c6U},
                      {"b", 1, "sku-42", 0x7b725a0968222849U, 0x937e0e07710d9956U},
                      {"a", 1, "sku-43", 0x06b8462b4c37632dU, 0x11ba0e18e0f6a7d0U},
                      {"a", 4, "sku-43", 0x06b8462b4c37632dU, 0xca738fedf78e4d0fU},
                      {"", 1, "", 0xaf63bd4c8601b7dfU, 0x71b8262bb6e2e086U},
                      {"north", 1, "größe", 0x34ee210755b9805dU, 0xef58f174611aa8b3U},
                      {"south", 7, "größe", 0xe674bdb177097c2bU, 0xaed9187c2f6f5e40U},
                      {"a", 0, "sku-42", 0x06b8452b4c37617aU, 0}};
  for (const Row& row : rows) {
    INFO(row.candidate << " " << row.weight << " " << row.name);
    CHECK(rendezvous_hash(row.candidate, row.name) == row.hash);
    CHECK(rendezvous_score({row.candidate, row.weight}, row.name) == row.score);
  }
}

TEST_CASE("a name has one ensemble, in whatever order the ensembles are given") {
  struct Row {
    std::string_view name, of_two, of_three, of_weights_4_and_1;
  };
  const Row rows[] = {{"sku-0", "north", "north", "north"},
                      {"sku-1", "south", "south", "north"},
                      {"sku-2", "south", "south", "south"},
                      {"sku-3", "north", "north", "north"},
                      {"sku-8", "north", "west", "north"}};
  Candidates two{{"north"}, {"south"}};
  Candidates three{{"north"}, {"south"}, {"west"}};
  Candidates weighted{{"north", 4}, {"south", 1}};
  for (int turn = 0; turn < 2; ++turn) {
    for (const Row& row : rows) {
      INFO(row.name);
      CHECK(choose(two, row.name) == row.of_two);
      CHECK(choose(three, row.name) == row.of_three);
      CHECK(choose(weighted, row.name) == row.of_weights_4_and_1);
    }
    for (Candidates* each : {&two, &three, &weighted}) std::ranges::reverse(*each);
  }
  // The same score, here 0: the first name has it.
  CHECK(choose({{"b", 0}, {"a", 0}, {"c", 0}}, "x") == "a");
  CHECK(choose({{"a", 0}, {"b", 0}}, "x") == "a");
  CHECK(choose({{"only"}}, "x") == "only");
}

TEST_CASE("an ensemble that is added takes its share of the names, and no other name moves") {
  for (const std::size_t number : {1U, 2U, 3U, 7U, 15U}) {
    INFO(number << " ensembles");
    const std::string_view added = ensembles[number];
    const int moved = moves(first(number), first(number + 1), [&](auto, auto to) { return to == added; });
    const double expected = many / static_cast<double>(number + 1);
    CHECK(moved > 0.9 * expected);
    CHECK(moved < 1.1 * expected);
    // The other way round, one is removed: only its own names move.
    CHECK(moves(first(number + 1), first(number), [&](auto from, auto) { return from == added; }) == moved);
  }
}

TEST_CASE("a weight that is raised draws names from all others, and no other name moves") {
  Candidates before = first(4);
  for (RendezvousCandidate& each : before) each.weight = 10;
  Candidates after = before;
  after[2].weight = 14;
  const int moved = moves(before, after, [](auto, auto to) { return to == "e2"; });
  const double expected = many * (14.0 / 44 - 10.0 / 40);
  CHECK(moved > 0.8 * expected);
  CHECK(moved < 1.2 * expected);
  CHECK(moves(after, before, [](auto from, auto) { return from == "e2"; }) == moved);
}

TEST_CASE("names are spread evenly over ensembles of one weight, and in proportion over others") {
  for (const std::size_t number : {2U, 3U, 5U, 8U, 16U}) {
    const auto count = shares(first(number));
    const double expected = many / static_cast<double>(number);
    double chi_squared = 0;
    for (const int each : count) chi_squared += (each - expected) * (each - expected) / expected;
    INFO(number << " ensembles, chi squared " << chi_squared);
    CHECK(chi_squared < static_cast<double>(number) - 1 + 4 * std::sqrt(2.0 * static_cast<double>(number)));
  }
  const auto count = shares({{"a", 1}, {"b", 2}, {"c", 5}});
  for (const auto& [index, weight] : {std::pair{0U, 1}, std::pair{1U, 2}, std::pair{2U, 5}}) {
    const double expected = many * weight / 8.0;
    CHECK(count[index] > 0.95 * expected);
    CHECK(count[index] < 1.05 * expected);
  }
}
