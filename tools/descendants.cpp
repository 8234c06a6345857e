#include "descendants.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <system_error>

#include <unistd.h>

namespace zklock::tools {
namespace {

namespace fs = std::filesystem;

/// 0 for a file that is not a process.
pid_t to_pid(const std::string& name) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc{} && end == name.data() + name.size() ? pid : 0;
}

/// 0 for a process that has ended and been waited for.
pid_t parent_of(const fs::path& process) {
  std::string text;
  std::ifstream file{process / "stat"};
  std::getline(file, text, '\0');
  const auto name_end = text.rfind(')');  // a program's name may contain any characters
  if (name_end == std::string::npos) return 0;
  char state = 0;
  pid_t parent = 0;
  std::istringstream{text.substr(name_end + 1)} >> state >> parent;
  return parent;
}

std::multimap<pid_t, pid_t> processes_by_parent() {
  std::multimap<pid_t, pid_t> result;
  std::error_code error;
  for (fs::directory_iterator next{"/proc", error}; !error && next != fs::directory_iterator{}; next.increment(error))
    if (const pid_t pid = to_pid(next->path().filename())) result.emplace(parent_of(next->path()), pid);
  return result;
}

}  // namespace

std::vector<pid_t> descendants(const std::vector<pid_t>& spared) {
  const auto by_parent = processes_by_parent();
  std::vector<pid_t> result;
  const auto add_children = [&](pid_t parent) {
    const auto [begin, end] = by_parent.equal_range(parent);
    for (auto child = begin; child != end; ++child)
      if (std::ranges::find(spared, child->second) == spared.end()) result.push_back(child->second);
  };
  add_children(::getpid());
  for (std::size_t i = 0; i < result.size(); ++i) add_children(result[i]);
  return result;
}

}  // namespace zklock::tools
