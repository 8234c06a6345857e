#include "fleet.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>

namespace zklock::chaos {

using namespace std::chrono_literals;

namespace {

/// A program that has ended hears nothing; its log tells.
void tell(const test::Process& program, const char* word) {
  try {
    program.say(word);
  } catch (const std::system_error&) {
  }
}

}  // namespace

Fleet::Fleet(const Cluster& cluster, const FleetOptions& options, std::uint16_t register_port)
    : options_{options}, register_port_{register_port} {
  const auto servers = cluster.addresses();
  for (std::size_t i = 0; i < options.workers + options.foreign_users.size(); ++i) {
    Member& member = members_.emplace_back();
    if (i >= options.workers) member.library = options.foreign_users[i - options.workers];
    for (std::size_t s = 0; s < servers.size(); ++s)
      member.links.push_back(
          std::make_unique<test::FrameProxy>(servers[s].port, servers[s].host, "127.0.0." + std::to_string(s + 1)));
    start(member);
  }
  for (const Member& member : members_) static_cast<void>(member.program->line());  // "working"
}

void Fleet::start(Member& member) {
  member.process = ++last_process_;
  member.log = options_.directory / ("worker." + std::to_string(member.process));
  member.program = std::make_unique<test::Process>("/proc/self/exe", command_of(member));
}

std::vector<std::string> Fleet::command_of(const Member& member) const {
  const bool is_worker = member.library.empty();
  std::string servers;
  for (const auto& link : member.links) servers += (servers.empty() ? "" : ",") + link->address();
  if (is_worker && member.process % 4 == 0) servers += "," + black_hole_.address();
  const auto number = [](auto value) { return std::to_string(value); };
  std::vector<std::string> words{is_worker ? "work" : "visit"};
  words.insert(words.end(), {"--connect", servers, "--log", member.log.string(), "--register", number(register_port_),
                             "--process", number(member.process), "--seed",
                             number(options_.seed * 1'000 + static_cast<std::uint64_t>(member.process) * 10),
                             "--timeout", number(options_.session_timeout.count())});
  if (is_worker)
    words.insert(words.end(), {"--slot", number(&member - members_.data() + 1), "--users", number(options_.users),
                               "--long-stays", number(options_.long_stays)});
  else
    words.insert(words.end(), {"--library", member.library});
  return words;
}

int Fleet::process(std::size_t member) const {
  const std::scoped_lock lock{mutex_};
  return members_[member].process;
}

/// A foreign user's library is in a program of its own, in its process group.
void Fleet::signal(std::size_t member, int number) const {
  const std::scoped_lock lock{mutex_};
  const test::Process& program = *members_[member].program;
  program.signal(number);
  if (!members_[member].library.empty()) ::kill(-program.pid(), number);
}

void Fleet::replace_dead(const Log& log) {
  const std::scoped_lock lock{mutex_};
  for (Member& member : members_) {
    if (!member.program->has_ended()) continue;
    const int before = member.process;
    start(member);
    log.write({.event = Event::measured, .process = member.process, .number = before, .reason = "replaces"});
  }
}

std::optional<std::pair<std::int64_t, std::string>> Fleet::session(std::size_t member) const {
  std::ifstream file{options_.directory / ("worker." + std::to_string(process(member)) + ".session")};
  std::int64_t id = 0;
  file >> id;
  file.get();
  std::string password{std::istreambuf_iterator<char>{file}, {}};
  if (id == 0 || password.size() != 16) return std::nullopt;
  return std::pair{id, std::move(password)};
}

std::vector<test::FrameProxy*> Fleet::links_of(std::size_t member) const {
  std::vector<test::FrameProxy*> all;
  for (const auto& link : members_[member].links) all.push_back(link.get());
  return all;
}

std::vector<test::FrameProxy*> Fleet::links_to(std::size_t server) const {
  std::vector<test::FrameProxy*> all;
  for (const Member& member : members_) all.push_back(member.links[server].get());
  return all;
}

void Fleet::bring_to(const char* word, const std::string& mark) {
  for (const Member& member : members_)
    if (member.program) tell(*member.program, word);
  const auto is_there = [&](const Member& member) {
    return !member.program || std::filesystem::exists(member.log.string() + mark) || member.program->has_ended();
  };
  if (test::eventually([&] { return std::ranges::all_of(members_, is_there); }, 60s)) return;
  for (Member& member : members_)
    if (!is_there(member)) member.program.reset();
}

void Fleet::drain() {
  bring_to("rest", ".rested");
  bring_to("drain", ".drained");
}

void Fleet::quit(const Log& log) {
  for (const Member& member : members_)
    if (member.program) tell(*member.program, "quit");
  for (const Member& member : members_)
    if (member.program)
      log.write({.event = Event::measured,
                 .process = member.process,
                 .number = member.program->wait(),
                 .reason = "exit_status"});
}

void Fleet::note_connections(const Log& log) const {
  for (const Member& member : members_) {
    int count = 0;
    for (const auto& link : member.links) count += link->connections() + link->refusals();
    log.write({.event = Event::measured, .process = member.process, .number = count, .reason = "connections"});
  }
}

void Fleet::note_requests(const Log& log) const {
  std::int64_t count = 0;
  for (const Member& member : members_)
    for (const auto& link : member.links)
      for (int opcode = 1; opcode <= 106; ++opcode)
        if (test::Opcode{opcode} != test::Opcode::ping) count += link->requests(test::Opcode{opcode});
  log.write({.event = Event::measured, .number = count, .reason = "requests"});
}

}  // namespace zklock::chaos
