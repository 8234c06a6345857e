#include "nemesis.hpp"

#include <csignal>
#include <exception>

namespace zklock::chaos {

using namespace std::chrono_literals;

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
    while (wait(std::chrono::milliseconds{below(dice, 2 * static_cast<std::uint64_t>(options_.rest.count()))}) &&
           wait(options_.truces.left(elapsed()))) {
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
        "client_killed", {process, process}, 0ms, [&] { fleet_.signal(member, SIGKILL); }, [] {});
  const auto length = options_.truces.shorten(some_pause(dice), elapsed());
  inflict(
      length > options_.session_timeout ? "client_paused_beyond_timeout" : "client_paused", {process, process}, length,
      [&] { fleet_.signal(member, SIGSTOP); }, [&] { fleet_.signal(member, SIGCONT); });
}

/// 0.2, 0.7, 1.5 and 5 session timeouts; the long ones less often.
std::chrono::milliseconds Nemesis::some_pause(Dice& dice) const {
  constexpr std::array tenths{2, 7, 15, 15, 15, 50};
  return options_.session_timeout * tenths[below(dice, tenths.size())] / 10;
}

// ---- what they share

void Nemesis::inflict(const std::string& kind, Target target, std::chrono::milliseconds length,
                      const std::function<void()>& begin, const std::function<void()>& end) {
  note(Event::fault, kind, target);
  begin();
  count(kind);
  wait(options_.truces.shorten(length, elapsed()));
  end();
  note(Event::healed, kind, target);
}

void Nemesis::note(Event event, const std::string& kind, Target target) {
  log_.write({.event = event, .process = target.process, .number = target.number, .reason = kind});
}

void Nemesis::count(const std::string& kind) {
  const std::scoped_lock lock{mutex_};
  ++counts_[kind];
}

bool Nemesis::wait(std::chrono::milliseconds length) {
  std::unique_lock lock{mutex_};
  return !changed_.wait_for(lock, length, [&] { return stopping_; });
}

std::chrono::milliseconds Nemesis::elapsed() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_);
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
