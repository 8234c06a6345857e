#include <zklock/recipe_kit/random.hpp>
#include <zklock/testing/simulation.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/co_spawn.hpp>

#include <algorithm>

namespace zklock::testing {

using namespace std::chrono_literals;

namespace {

constexpr Clock::duration longest_scenario = 10min;
constexpr Clock::duration time_to_settle = 5min;  // a lost session is searched for during ten timeouts
constexpr int max_iterations = 100'000;

std::string describe(const Simulation::Operation& operation) { return operation.client + "'s " + operation.name; }

}  // namespace

Simulation::Simulation(std::uint64_t seed, FakeEnsembleOptions options) : ensemble_{executor(), options} {
  seed_random_bits(seed);
}

Simulation::~Simulation() = default;

Client& Simulation::client(const std::string& name, ClientConfig config) {
  for (NamedClient& each : clients_)
    if (each.name == name) return each.client;
  if (config.client_id.empty()) config.client_id = name;
  clients_.push_back({name, ensemble_.make_client(executor(), std::move(config))});
  return clients_.back().client;
}

Client& Simulation::client(const std::string& name) { return client(name, ClientConfig{}); }

std::vector<std::string> Simulation::client_names() const {
  std::vector<std::string> names;
  for (const NamedClient& each : clients_) names.push_back(each.name);
  return names;
}

void Simulation::close_client(std::size_t index) {
  if (index >= clients_.size()) return;
  NamedClient& closing = *std::next(clients_.begin(), static_cast<std::ptrdiff_t>(index));
  auto check = [this, &closing, begun = Clock::now()](error_code) { check_closed(closing, begun); };
  closing.client.async_close(asio::bind_executor(executor(), std::move(check)));
}

void Simulation::check_closed(const NamedClient& closed, Clock::time_point begun) {
  if (woke_ >= begun) return;
  for (const FakeNode& node : ensemble_.nodes())
    if (closed.sessions.contains(node.stat.ephemeral_owner)) fail(closed.name + " is closed and has left " + node.path);
}

void Simulation::cut_client(std::size_t index) {
  if (index >= clients_.size()) return;
  const Session session = std::next(clients_.begin(), static_cast<std::ptrdiff_t>(index))->client.session();
  if (session) ensemble_.cut(session.id());
}

void Simulation::delete_as_operator(const std::string& path) {
  const auto nodes = ensemble_.nodes();  // in the order of paths: descendants come later
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (node->path != path && !node->path.starts_with(path + "/")) continue;
    deleted_[node->path] = node->stat.czxid;
    ensemble_.remove(node->path);
  }
}

bool Simulation::was_made_anew(const std::string& directory) const {
  const auto nodes = ensemble_.nodes();
  const auto now = std::ranges::find(nodes, directory, &FakeNode::path);
  return now != nodes.end() && std::ranges::any_of(deleted_, [&](const auto& gone) {
           return (gone.first == directory || gone.first.starts_with(directory + "/")) && gone.second < now->stat.czxid;
         });
}

void Simulation::actor(std::function<asio::awaitable<void>()> body) {
  bodies_.push_back(std::move(body));
  ++actors_;
  asio::co_spawn(context_, bodies_.back()(), [this](const std::exception_ptr& thrown) {
    --actors_;
    if (!thrown) return;
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      fail(std::string{"an actor threw: "} + error.what());
    }
  });
}

Simulation::Operation& Simulation::begin(std::string_view client, const OperationTraits& traits) {
  Operation& operation = operations_.emplace_back();
  operation.client = client;
  operation.name = traits.name;
  operation.can_be_cancelled = traits.can_be_cancelled;
  operation.started = Clock::now();
  if (traits.within > 0ms) operation.deadline = operation.started + traits.within;
  return operation;
}

Simulation::Operation& Simulation::operation_at(std::size_t index) {
  return *std::next(operations_.begin(), static_cast<std::ptrdiff_t>(index));
}

void Simulation::after(Clock::duration wait, std::function<void()> action) {
  const auto timer = std::make_shared<Timer>(executor(), wait);
  timer->async_wait([timer, action = std::move(action)](error_code) { action(); });
}

void Simulation::cancel(std::size_t index) {
  if (index >= operations_.size()) return;
  Operation& victim = operation_at(index);
  if (victim.is_done() || !victim.can_be_cancelled) return;
  victim.cancelled = true;
  victim.signal.emit(asio::cancellation_type::terminal);
}

void Simulation::oversleep(Clock::time_point until) {
  clock_.advance(std::max(Clock::duration::zero(), until - Clock::now()));
  woke_ = Clock::now();
}

void Simulation::invariant(std::string name, std::function<bool()> holds) {
  invariants_.push_back({std::move(name), std::move(holds)});
}

void Simulation::at_the_end(std::string name, std::function<bool()> holds) {
  end_checks_.push_back({std::move(name), std::move(holds)});
}

// ---- running

/// Checks what must be true whenever nothing is ready to run.
void Simulation::check() {
  for (NamedClient& each : clients_)
    if (const Session session = each.client.session(); session && session.id() != 0) each.sessions.insert(session.id());
  for (const Check& invariant : invariants_)
    if (!invariant.holds()) fail("does not hold: " + invariant.name);
  for (const Operation& operation : operations_) {
    if (operation.completions > 1) fail(describe(operation) + " has completed twice");
    if (operation.is_done()) continue;
    if (operation.cancelled) fail(describe(operation) + " has been cancelled, and does not complete");
    if (operation.deadline && Clock::now() >= *operation.deadline) fail(describe(operation) + " is overdue");
  }
}

/// Lets time pass until `done`. False if that does not happen within the limit, or if there is a failure.
bool Simulation::run_until(const std::function<bool()>& done, Clock::duration limit) {
  const auto end = Clock::now() + limit;
  for (int turns = 0; turns < max_iterations; ++turns) {
    const auto next = clock_.until_next(context_);
    check();
    if (!failures_.empty()) return false;
    if (done()) return true;
    if (!next || Clock::now() + *next > end) return false;
    clock_.advance(*next);
  }
  return false;
}

void Simulation::run() {
  if (run_until([this] { return actors_ == 0; }, longest_scenario)) return settle();
  if (!failures_.empty()) return;
  for (const Operation& operation : operations_)
    if (!operation.is_done()) fail(describe(operation) + " never completes");
  if (failures_.empty()) fail("an actor never returns");
}

void Simulation::settle() {
  const auto settled = [this] {
    return orphans().empty() && std::ranges::all_of(end_checks_, [](const Check& each) { return each.holds(); });
  };
  if (!run_until(settled, time_to_settle)) {
    if (!orphans().empty()) fail("left behind: " + orphans());
    for (const Check& each : end_checks_)
      if (!each.holds()) fail("does not hold at the end: " + each.name);
  }
  for (const Operation& operation : operations_)
    if (operation.completions != 1)
      fail(describe(operation) + " has completed " + std::to_string(operation.completions) + " times");
  if (failures_.empty()) close_clients();
}

std::string Simulation::orphans() const {
  std::string all;
  for (const FakeNode& node : ensemble_.nodes())
    if (node.stat.ephemeral_owner > 0) all += "node " + node.path + ", ";
  for (const FakeWatch& watch : ensemble_.watches())
    if (!watch.path.starts_with("/zookeeper")) all += "watch on " + watch.path + ", ";
  return all;
}

void Simulation::close_clients() {
  std::size_t open = clients_.size();
  for (NamedClient& each : clients_)
    each.client.async_close(asio::bind_executor(executor(), [&open](error_code) { --open; }));
  const bool closed = run_until([&open] { return open == 0; }, time_to_settle);
  if (!closed) return fail("a client does not close");
  clients_.clear();
  // poll() reports "stopped" when there is no more work.
  if (!run_until([this] { return context_.stopped(); }, time_to_settle) && !context_.stopped())
    fail("work is left in the io_context");
}

}  // namespace zklock::testing
