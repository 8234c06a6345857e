#include "task.hpp"

#include <map>
#include <stdexcept>

namespace zklock::bench {
namespace {

Task::Kind parse_kind(const std::string& name) {
  static const std::map<std::string, Task::Kind> kinds{{"lock", Task::Kind::lock},
                                                       {"read-write", Task::Kind::read_write},
                                                       {"re-entry", Task::Kind::reentry},
                                                       {"turns", Task::Kind::turns},
                                                       {"tries", Task::Kind::tries}};
  const auto found = kinds.find(name);
  if (found == kinds.end()) throw std::invalid_argument{"there is no task '" + name + "'"};
  return found->second;
}

}  // namespace

Task parse_task(std::span<char*> words) {
  Task task;
  const std::map<std::string, std::size_t*> numbers{
      {"waiters", &task.waiters}, {"locks", &task.locks},     {"sessions", &task.sessions},
      {"clients", &task.clients}, {"turn", &task.turn},       {"write-every", &task.write_every_ms},
      {"readers", &task.readers}, {"writers", &task.writers}, {"hold", &task.hold_ms}};
  for (const std::string word : words) {
    const auto sign = word.find('=');
    const std::string key = word.substr(0, sign);
    const std::string value = sign == std::string::npos ? "" : word.substr(sign + 1);
    if (key == "task") {
      task.kind = parse_kind(value);
    } else if (key == "servers") {
      task.servers = value;
    } else if (key == "path") {
      task.path = value;
    } else if (key == "timeout") {
      task.session_timeout_ms = std::stoi(value);
    } else if (const auto number = numbers.find(key); number != numbers.end()) {
      *number->second = std::stoul(value);
    } else {
      throw std::invalid_argument{"what is '" + word + "'?"};
    }
  }
  return task;
}

}  // namespace zklock::bench
