#include "nemesis.hpp"

#include "layout.hpp"
#include "support/fixture.hpp"

#include <csignal>
#include <exception>
#include <utility>

namespace zklock::chaos {

using namespace std::chrono_literals;
using test::FrameProxy;

namespace {

const std::vector<std::string>& kinds_of_lines() {
  static const std::vector<std::string> all{"mutex", "rw", "permits", "single"};
  return all;
}

}  // namespace

Nemesis::Nemesis(Cluster& cluster, Fleet& fleet, const Log& log, const Options& options)
    : cluster_{cluster},
      fleet_{fleet},
      log_{log},
      options_{options},
      operator_{{.connect_string = cluster.connect_string(), .session_timeout = 4s, .operation_timeout = 5s}} {
  for (const Lane lane : {processes, links, servers, operators}) lanes_.emplace_back([this, lane] { run(lane); });
}

Nemesis::~Nemesis() { stop(); }

void Nemesis::stop() {
  {
    const std::scoped_lock lock{mutex_};
    stopping_ = true;
    changed_.notify_all();
  }
  for (std::thread& lane : lanes_)
    if (lane.joinable()) lane.join();
  operator_.close();
}

void Nemesis::run(Lane lane) {
  Dice dice{options_.seed * 4 + lane};
  try {
    while (wait(std::chrono::milliseconds{below(dice, 2 * static_cast<std::uint64_t>(options_.rest.count()))})) {
      switch (lane) {
        case processes: harm_process(dice); break;
        case links: harm_links(dice); break;
        case servers: harm_servers(dice); break;
        case operators: operate(dice); break;
      }
    }
  } catch (const std::exception& error) {
    const std::scoped_lock lock{mutex_};
    failure_ = error.what();
  }
}

// ---- processes

void Nemesis::harm_process(Dice& dice) {
  const std::size_t member = below(dice, fleet_.size());
  const int process = fleet_.process(member);
  if (below(dice, 8) == 0)
    return inflict(
        "client_killed", process, 0ms, [&] { fleet_.signal(member, SIGKILL); }, [] {});
  const auto length = some_pause(dice);
  inflict(
      length > options_.session_timeout ? "client_paused_beyond_timeout" : "client_paused", process, length,
      [&] { fleet_.signal(member, SIGSTOP); }, [&] { fleet_.signal(member, SIGCONT); });
}

/// 0.2, 0.7, 1.5 and 5 session timeouts; the long ones less often.
std::chrono::milliseconds Nemesis::some_pause(Dice& dice) const {
  constexpr std::array tenths{2, 7, 15, 15, 15, 50};
  return options_.session_timeout * tenths[below(dice, tenths.size())] / 10;
}

// ---- links

void Nemesis::harm_links(Dice& dice) {
  const bool of_a_worker = below(dice, 3) > 0;
  const std::size_t target = below(dice, of_a_worker ? fleet_.size() : cluster_.size());
  const auto chosen = of_a_worker ? fleet_.links_of(target) : fleet_.links_to(target);
  const auto each = [&](auto what) {
    return [&chosen, what] {
      for (FrameProxy* link : chosen) what(*link);
    };
  };
  const auto number = static_cast<std::int64_t>(target);
  const auto some_time = std::chrono::milliseconds{below(dice, 2) == 0 ? below(dice, 600) : 1'500 + below(dice, 3'000)};
  switch (below(dice, 7)) {
    case 0: return inflict("link_cut", number, 0ms, each([](FrameProxy& link) { link.cut(); }), [] {});
    case 1:
      return inflict("link_refused", number, some_time, each([](FrameProxy& link) {
                       link.refuse();
                       link.cut();
                     }),
                     each([](FrameProxy& link) { link.accept_again(); }));
    case 2:
      return inflict("link_silent", number, some_time, each([](FrameProxy& link) {
                       link.hold(test::Direction::requests);
                       link.hold(test::Direction::replies);
                     }),
                     each([](FrameProxy& link) { link.cut(); }));
    case 3:
    case 4: {
      const auto way = below(dice, 2) == 0 ? test::Direction::requests : test::Direction::replies;
      return inflict("link_one_way", number, some_time, each([way](FrameProxy& link) { link.hold(way); }),
                     each([way](FrameProxy& link) { link.resume(way); }));
    }
    case 5:
      return inflict("link_slow", number, some_time, each([](FrameProxy& link) { link.slow_down(20ms); }),
                     each([](FrameProxy& link) { link.slow_down(0ms); }));
    default: {
      using test::Opcode;
      constexpr std::array opcodes{Opcode::create2,        Opcode::remove,        Opcode::multi, Opcode::get_children2,
                                   Opcode::create_session, Opcode::close_session, Opcode::sync};
      const test::Cut cut{.opcode = opcodes[below(dice, opcodes.size())],
                          .point = test::CutPoint{static_cast<int>(below(dice, 5))},
                          .manner = test::CutManner{static_cast<int>(below(dice, 2))},
                          .nth = static_cast<int>(1 + below(dice, 5))};
      return inflict("link_cut_in_frame", number, 0ms, each([cut](FrameProxy& link) { link.cut_at(cut); }), [] {});
    }
  }
}

// ---- servers, and what they say of sessions

void Nemesis::harm_servers(Dice& dice) {
  switch (below(dice, 8)) {
    case 0: return pause_server(dice);
    case 1: return cut_off_server(dice);
    case 2:
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
      kind, static_cast<std::int64_t>(victims.front()), std::chrono::milliseconds{below(dice, 1'500)},
      [&] {
        for (const std::size_t each : victims) cluster_.server(each).kill();
      },
      [&] {
        for (const std::size_t each : victims) cluster_.server(each).start();
        cluster_.wait_quorum();
      });
}

void Nemesis::pause_server(Dice& dice) {
  const bool is_leader = below(dice, 2) == 0;
  const std::size_t victim = is_leader ? cluster_.leader() : below(dice, cluster_.size());
  const auto length = std::min(some_pause(dice), 2 * options_.session_timeout);
  inflict(
      is_leader ? "leader_paused" : "server_paused", static_cast<std::int64_t>(victim), length,
      [&] { cluster_.server(victim).pause(); },
      [&] {
        cluster_.server(victim).resume();
        cluster_.wait_quorum();
      });
}

void Nemesis::cut_off_server(Dice& dice) {
  const std::size_t victim = below(dice, 2) == 0 ? cluster_.leader() : below(dice, cluster_.size());
  if (!cluster_.can_cut_links()) return end_session(dice);
  inflict(
      "server_cut_off", static_cast<std::int64_t>(victim), 500ms + std::chrono::milliseconds{below(dice, 4'000)},
      [&] { cluster_.cut_off(victim); },
      [&] {
        cluster_.rejoin(victim);
        cluster_.wait_quorum();
      });
}

void Nemesis::end_session(Dice& dice) {
  const auto victim = fleet_.session(below(dice, fleet_.size()));
  if (!victim) return;
  log_.write({.event = Event::fault, .session = victim->first, .reason = "session_ended"});
  cluster_.end_session(victim->first, victim->second);
  count("session_ended");
}

// ---- an operator

void Nemesis::operate(Dice& dice) {
  try {
    below(dice, 3) > 0 ? delete_some_node(dice) : add_stranger(dice);
  } catch (const std::exception&) {  // no server, or not in time: nothing to be had from an operator now
  }
}

void Nemesis::delete_some_node(Dice& dice) {
  const std::string& kind = kinds_of_lines()[below(dice, 4)];
  std::string line = locks + kind + std::to_string(below(dice, lines));
  if (kind == "permits" || kind == "single") line += below(dice, 2) == 0 ? "/locks" : "/leases";
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

/// What is in no line; or a contender of another make, who is first in line sooner or later.
void Nemesis::add_stranger(Dice& dice) {
  const std::string line = locks + kinds_of_lines()[below(dice, 2)] + std::to_string(below(dice, lines));
  constexpr std::array names{"/stranger", "/lock-", "/x-__WRIT__", "/not-a-lock-1"};
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
  test::outcome_of_operation<>([&, path = made.path](auto token) {
    operator_.async_remove(path, RemoveOptions{}.guaranteed().quietly(), std::move(token));
  });
}

// ---- what they share

template <class Begin, class End>
void Nemesis::inflict(const std::string& kind, std::int64_t target, std::chrono::milliseconds length, Begin begin,
                      End end) {
  note(Event::fault, kind, target);
  begin();
  count(kind);
  wait(length);
  end();
  note(Event::healed, kind, target);
}

void Nemesis::note(Event event, const std::string& kind, std::int64_t target) {
  log_.write({.event = event, .number = target, .reason = kind});
}

void Nemesis::count(const std::string& kind) {
  const std::scoped_lock lock{mutex_};
  ++counts_[kind];
}

bool Nemesis::wait(std::chrono::milliseconds length) {
  std::unique_lock lock{mutex_};
  return !changed_.wait_for(lock, length, [&] { return stopping_; });
}

std::map<std::string, int> Nemesis::counts() const {
  const std::scoped_lock lock{mutex_};
  return counts_;
}

int Nemesis::total() const {
  int sum = 0;
  for (const auto& [kind, number] : counts()) sum += number;
  return sum;
}

std::string Nemesis::failure() const {
  const std::scoped_lock lock{mutex_};
  return failure_;
}

}  // namespace zklock::chaos
