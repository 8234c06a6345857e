// Faults of servers, and of what they say about sessions.
#include "nemesis.hpp"

#include <algorithm>

namespace zklock::chaos {

using namespace std::chrono_literals;

void Nemesis::harm_servers(Dice& dice) {
  switch (below(dice, 8)) {
    case 0: return pause_server(dice);
    case 1:
    case 2: return cut_off_server(dice);
    case 3: return end_session(dice);
    default: return kill_servers(dice);
  }
}

void Nemesis::kill_servers(Dice& dice) {
  const std::size_t leader = cluster_.leader();
  std::vector<std::size_t> victims{leader};
  std::string kind = "leader_killed";
  const std::uint64_t which = below(dice, 6);
  if (which == 0 && cluster_.size() > 1) {
    kind = "server_killed";
    victims = {(leader + 1 + below(dice, cluster_.size() - 1)) % cluster_.size()};
  } else if (which == 1 && cluster_.size() > 1) {
    kind = "majority_killed";
    victims.push_back((leader + 1) % cluster_.size());
  }
  inflict(
      kind, {static_cast<std::int64_t>(victims.front())}, std::chrono::milliseconds{below(dice, 1'500)},
      [&] {
        for (const std::size_t each : victims) cluster_.server(each).kill();
      },
      [&] {
        for (const std::size_t each : victims) cluster_.server(each).start();
        restore_servers();
      });
}

void Nemesis::pause_server(Dice& dice) {
  const bool is_leader = below(dice, 2) == 0;
  const std::size_t victim = is_leader ? cluster_.leader() : below(dice, cluster_.size());
  const auto length = std::min(some_pause(dice), 2 * options_.session_timeout);
  inflict(
      is_leader ? "leader_paused" : "server_paused", {static_cast<std::int64_t>(victim)}, length,
      [&] { cluster_.server(victim).pause(); },
      [&] {
        cluster_.server(victim).resume();
        restore_servers();
      });
}

void Nemesis::cut_off_server(Dice& dice) {
  const std::size_t victim = below(dice, 2) == 0 ? cluster_.leader() : below(dice, cluster_.size());
  if (!cluster_.can_cut_links()) return end_session(dice);
  inflict(
      "server_cut_off", {static_cast<std::int64_t>(victim)}, 500ms + std::chrono::milliseconds{below(dice, 4'000)},
      [&] { cluster_.cut_off(victim); },
      [&] {
        cluster_.rejoin(victim);
        restore_servers();
      });
}

void Nemesis::restore_servers() {
  cluster_.wait_serving();
  for (const std::size_t strayed : cluster_.find_strayed()) {
    const Target target{static_cast<std::int64_t>(strayed)};
    note(Event::fault, "server_strayed", target);
    cluster_.renew(strayed, options_.directory);
    note(Event::healed, "server_strayed", target);
  }
}

void Nemesis::end_session(Dice& dice) {
  const auto victim = fleet_.session(below(dice, fleet_.size()));
  if (!victim) return;
  log_.write({.event = Event::fault, .session = victim->first, .reason = "session_ended"});
  cluster_.end_session(victim->first, victim->second);
  count("session_ended");
}

}  // namespace zklock::chaos
