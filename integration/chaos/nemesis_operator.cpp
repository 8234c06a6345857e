// Changes that an operator makes to nodes.
#include "layout.hpp"
#include "nemesis.hpp"
#include "support/fixture.hpp"

#include <exception>
#include <utility>

namespace zklock::chaos {

using namespace std::chrono_literals;

namespace {

const std::vector<std::string>& kinds_of_lines() {
  static const std::vector<std::string> all{"mutex",        "rw",        "permits", "single",    "latch",
                                            "selector",     "confirmed", "silent",  "silent_rw", "confirmed_single",
                                            "silent_single"};
  return all;
}

}  // namespace

void Nemesis::operate(Dice& dice) {
  try {
    below(dice, 3) > 0 ? delete_some_node(dice) : add_foreign_child(dice);
    remove_left_children();
  } catch (const std::exception&) {  // no server, or not in time: an operator can do nothing now
  }
}

void Nemesis::delete_some_node(Dice& dice) {
  const std::string& kind = kinds_of_lines()[below(dice, kinds_of_lines().size())];
  const bool is_election = kind == "latch" || kind == "selector";
  std::string line = locks + kind + std::to_string(below(dice, is_election ? elections : lines));
  if (kind == "permits" || kind.ends_with("single")) line += below(dice, 2) == 0 ? "/locks" : "/leases";
  const std::uint64_t which = dice();
  const Session session = test::connected_session(operator_);
  const auto names = test::children_of(session, line);
  if (names.empty()) return;
  const std::string node = line + "/" + names[which % names.size()];
  log_.write({.event = Event::fault, .lock = node, .session = session.id(), .reason = "node_deleted"});
  const auto done =
      test::outcome_of_operation<>([&](auto token) { session.async_remove(node, any_version, std::move(token)); });
  if (!std::get<0>(done)) count("node_deleted");
}

/// A contender whose create seemed to fail, or was carried out late, would keep everybody waiting for ever. All other
/// nodes in the wait queues have an attempt's prefix.
void Nemesis::remove_left_children() {
  const Session session = test::connected_session(operator_);
  for (const std::string kind : {"mutex", "rw"})
    for (std::uint64_t line = 0; line < lines; ++line) {
      const std::string directory = locks + kind + std::to_string(line);
      for (const std::string& name : test::children_of(session, directory))
        if (!name.starts_with("_c_")) remove_child(directory + "/" + name);
    }
}

void Nemesis::remove_child(const std::string& path) {
  test::outcome_of_operation<>(
      [&](auto token) { operator_.async_remove(path, RemoveOptions{}.guaranteed().quietly(), std::move(token)); });
}

/// Adds a node that is in no wait queue, or a contender of another library, which is first in the queue sooner or
/// later.
void Nemesis::add_foreign_child(Dice& dice) {
  const std::string line = locks + kinds_of_lines()[below(dice, 2)] + std::to_string(below(dice, lines));
  constexpr std::array names{"/foreign", "/lock-", "/x-__WRIT__", "/not-a-lock-1"};
  const std::string name = names[below(dice, names.size())];
  const auto length = std::chrono::milliseconds{below(dice, 800)};
  const Session session = test::connected_session(operator_);
  log_.write({.event = Event::fault, .lock = line, .session = session.id(), .reason = "foreign_child"});
  const auto [error, made] = test::outcome_of_operation<CreateResult>([&](auto token) {
    session.async_create(line + name, "",
                         name.ends_with('k') ? CreateMode::ephemeral : CreateMode::ephemeral_sequential,
                         std::move(token));
  });
  if (error) return;
  count("foreign_child");
  wait(length);
  remove_child(made.path);
}

}  // namespace zklock::chaos
