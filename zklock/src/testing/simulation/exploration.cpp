#include <zklock/testing/exploration.hpp>

#include <algorithm>
#include <array>
#include <ostream>
#include <random>
#include <sstream>
#include <stdexcept>

namespace zklock::testing {

using namespace std::chrono_literals;

namespace {

constexpr std::array<std::string_view, 13> fault_names{
    "request_lost", "reply_lost",   "expired_before", "expired_after", "cancelled", "cancelled_later", "overslept",
    "closed",       "closed_later", "closed_cut",     "request_late",  "deleted",   "deleted_later"};

constexpr Clock::duration some_messages = 20ms;

/// One fault at one step. `whom`: the number of the operation, the client or the node, if the fault needs one.
struct Injection {
  Fault fault{};
  std::uint64_t step = 0;
  std::size_t whom = 0;
};
using Plan = std::vector<Injection>;

bool strikes_operation(Fault fault) {
  return fault == Fault::cancelled || fault == Fault::cancelled_later || fault == Fault::overslept;
}
bool strikes_client(Fault fault) {
  return fault == Fault::closed || fault == Fault::closed_later || fault == Fault::closed_cut;
}
bool strikes_node(Fault fault) { return fault == Fault::deleted || fault == Fault::deleted_later; }

std::string to_text(const Plan& plan) {
  std::string text;
  for (const Injection& each : plan) {
    text += (text.empty() ? "" : " ") + std::string{to_string(each.fault)} + "@" + std::to_string(each.step);
    if (strikes_operation(each.fault) || strikes_client(each.fault) || strikes_node(each.fault))
      text += "#" + std::to_string(each.whom);
  }
  return text;
}

Plan parse(const std::string& text) {
  Plan plan;
  std::istringstream words{text};
  for (std::string word; words >> word;) {
    const auto at = word.find('@');
    const auto name = std::find(fault_names.begin(), fault_names.end(), word.substr(0, at));
    if (at == std::string::npos || name == fault_names.end()) throw std::invalid_argument{"no such fault: " + word};
    const auto hash = word.find('#');
    Injection injection{static_cast<Fault>(name - fault_names.begin()), std::stoull(word.substr(at + 1)), 0};
    if (hash != std::string::npos) injection.whom = std::stoull(word.substr(hash + 1));
    plan.push_back(injection);
  }
  return plan;
}

/// The possible targets of a fault at a step.
struct Step {
  std::vector<std::size_t> operations{};
  std::size_t clients = 0;
  std::size_t nodes = 0;
};

struct Run {
  std::vector<std::string> failures{};
  std::vector<std::string> calls{};
  std::vector<Step> steps{};
};

/// The nodes that the operator may delete.
std::vector<std::string> nodes_below(const Simulation& simulation, const std::string& top) {
  std::vector<std::string> paths;
  if (top.empty()) return paths;
  for (const FakeNode& node : simulation.ensemble().nodes())
    if (node.path == top || node.path.starts_with(top + "/")) paths.push_back(node.path);
  return paths;
}

/// Injects the faults of a plan into a simulation. It sees each call from inside the ensemble.
class Saboteur {
 public:
  Saboteur(Simulation& simulation, const std::string& operators, const Plan& plan, Run& run)
      : simulation_{simulation}, operators_{operators}, plan_{plan}, run_{run} {}

  FakeFault operator()(const FakeCall& call) {
    if (!call.applied) note(call);
    FakeFault verdict = FakeFault::none;
    for (const Injection& each : plan_) {
      if (each.step != call.number) continue;
      const FakeFault here = strike(each, call.applied);
      if (here != FakeFault::none) verdict = here;
    }
    return verdict;
  }

 private:
  void note(const FakeCall& call) {
    std::ostringstream words;
    words << call.number << ": " << call.operation << ' ' << call.path << " (session " << std::hex << call.session
          << ")";
    run_.calls.push_back(words.str());
    Step step{.clients = simulation_.client_names().size()};
    std::size_t index = 0;
    for (const Simulation::Operation& operation : simulation_.operations()) {
      if (!operation.is_done()) step.operations.push_back(index);
      ++index;
    }
    run_.steps.push_back(std::move(step));
    if (operators_.empty()) return;
    simulation_.after(Clock::duration::zero(),
                      [&simulation = simulation_, &operators = operators_, &run = run_, number = run_.steps.size()] {
                        run.steps[number - 1].nodes = nodes_below(simulation, operators).size();
                      });
  }

  FakeFault strike(const Injection& injection, bool applied) {
    switch (injection.fault) {
      case Fault::request_lost: return applied ? FakeFault::none : FakeFault::cut;
      case Fault::reply_lost: return applied ? FakeFault::cut : FakeFault::none;
      case Fault::expired_before: return applied ? FakeFault::none : FakeFault::expire;
      case Fault::request_late: return applied ? FakeFault::none : FakeFault::late;
      case Fault::expired_after: return applied ? FakeFault::expire : FakeFault::none;
      default: break;
    }
    if (applied) return FakeFault::none;
    auto act = [this, injection] { befall(injection); };
    const bool later = injection.fault == Fault::cancelled_later || injection.fault == Fault::closed_later ||
                       injection.fault == Fault::deleted_later;
    simulation_.after(later ? some_messages : Clock::duration::zero(), std::move(act));
    return FakeFault::none;
  }

  void befall(const Injection& injection) {
    if (injection.fault == Fault::closed_cut) return cut_and_close(injection.whom);
    if (strikes_client(injection.fault)) return simulation_.close_client(injection.whom);
    if (strikes_node(injection.fault)) return delete_node(injection.whom);
    if (injection.whom >= simulation_.operations().size()) return;
    if (injection.fault != Fault::overslept) return simulation_.cancel(injection.whom);
    const Simulation::Operation& victim = simulation_.operation_at(injection.whom);
    if (!victim.is_done() && victim.deadline) simulation_.oversleep(*victim.deadline);
  }

  void delete_node(std::size_t number) {
    const auto paths = nodes_below(simulation_, operators_);
    if (number < paths.size()) simulation_.delete_as_operator(paths[number]);
  }

  void cut_and_close(std::size_t client) {
    simulation_.cut_client(client);
    simulation_.after({}, [&simulation = simulation_, client] { simulation.close_client(client); });
  }

  Simulation& simulation_;
  const std::string& operators_;
  const Plan& plan_;
  Run& run_;
};

Run run_once(const Scenario& scenario, const ExplorationOptions& options, const Plan& plan) {
  Run run;
  Simulation simulation{options.seed, options.ensemble};
  simulation.ensemble().on_call(Saboteur{simulation, options.operator_deletes, plan, run});
  scenario(simulation);
  simulation.run();
  run.failures = simulation.failures();
  return run;
}

/// All faults that are possible at the steps of the run.
Plan every_fault(const Run& undisturbed, const ExplorationOptions& options) {
  Plan all;
  for (std::size_t i = 0; i < undisturbed.steps.size(); ++i) {
    const std::uint64_t number = i + 1;
    for (const Fault fault : {Fault::request_lost, Fault::reply_lost, Fault::expired_before, Fault::expired_after})
      all.push_back({fault, number, 0});
    if (options.late_requests) all.push_back({Fault::request_late, number, 0});
    for (const std::size_t operation : undisturbed.steps[i].operations)
      for (const Fault fault : {Fault::cancelled, Fault::cancelled_later, Fault::overslept})
        all.push_back({fault, number, operation});
    for (std::size_t client = 0; client < undisturbed.steps[i].clients; ++client)
      for (const Fault fault : {Fault::closed, Fault::closed_later, Fault::closed_cut})
        all.push_back({fault, number, client});
    for (std::size_t node = 0; node < undisturbed.steps[i].nodes; ++node)
      for (const Fault fault : {Fault::deleted, Fault::deleted_later}) all.push_back({fault, number, node});
  }
  return all;
}

/// The faults with which a run may begin.
Plan first_faults(const Plan& all, const ExplorationOptions& options) {
  Plan first = all;
  if (!options.operator_deletes.empty())
    std::erase_if(first, [](const Injection& each) { return !strikes_node(each.fault); });
  return first;
}

/// Draws a pair: the second fault comes soon after the first, while the clients still recover from that.
Plan pair_of(const Plan& firsts, const Plan& all, std::mt19937_64& random) {
  constexpr std::uint64_t soon = 12;
  Injection first = firsts[random() % firsts.size()];
  Injection second = all[random() % all.size()];
  second.step = first.step + 1 + random() % soon;
  return {first, second};
}

class Explorer {
 public:
  Explorer(const Scenario& scenario, const ExplorationOptions& options) : scenario_{scenario}, options_{options} {}

  Run run(const Plan& plan) {
    Run run = run_once(scenario_, options_, plan);
    ++report_.runs;
    if (!run.failures.empty()) report_.failures.push_back({to_text(plan), run.failures.front(), run.calls});
    return run;
  }
  [[nodiscard]] bool had_enough() const { return report_.failures.size() >= options_.max_failures; }

  ExplorationReport explore() {
    if (!options_.only.empty()) {
      report_.steps = run(parse(options_.only)).steps.size();
      return report_;
    }
    const Run undisturbed = run({});
    report_.steps = undisturbed.steps.size();
    const Plan all = every_fault(undisturbed, options_);
    const Plan first = first_faults(all, options_);
    const std::size_t stride = std::max<std::size_t>(options_.stride, 1);
    for (std::size_t i = options_.seed % stride; i < first.size() && !had_enough(); i += stride) run({first[i]});
    std::mt19937_64 random{options_.seed};
    for (std::size_t i = 0; i < options_.pairs && !first.empty() && !had_enough(); ++i)
      run(pair_of(first, all, random));
    return report_;
  }

 private:
  const Scenario& scenario_;
  const ExplorationOptions& options_;
  ExplorationReport report_;
};

}  // namespace

std::string_view to_string(Fault fault) noexcept { return fault_names[static_cast<std::size_t>(fault)]; }

std::ostream& operator<<(std::ostream& out, const ExplorationReport& report) {
  out << report.runs << " runs of " << report.steps << " steps and more";
  for (const ExplorationFailure& failure : report.failures) {
    out << "\nwith .only = \"" << failure.replay << "\": " << failure.what;
    for (const std::string& call : failure.calls) out << "\n    " << call;
  }
  return out;
}

ExplorationReport explore(const Scenario& scenario, const ExplorationOptions& options) {
  return Explorer{scenario, options}.explore();
}

}  // namespace zklock::testing
