#include "dashboard.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shop {

Dashboard::Dashboard(const std::string& program, const std::string& connect, const std::string& base) {
  std::vector<std::string> words{"setpriv",   "--pdeathsig", "TERM",   "--", program,    "dashboard",
                                 "--connect", connect,       "--base", base, "--listen", "127.0.0.1:0"};
  std::vector<char*> pointers;
  std::ranges::transform(words, std::back_inserter(pointers), [](std::string& word) { return word.data(); });
  pointers.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error{errno, std::generic_category(), "pipe"};
  posix_spawn_file_actions_t actions;
  int error = ::posix_spawn_file_actions_init(&actions);
  if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (error == 0) error = ::posix_spawnp(&pid_, "setpriv", &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  for (char c = 0; error == 0 && ::read(ends[0], &c, 1) == 1 && c != '\n';) address_ += c;  // its first line
  ::close(ends[0]);
  if (error != 0) throw std::system_error{error, std::generic_category(), "start the dashboard"};
  if (address_.empty()) throw std::runtime_error{"the dashboard has ended"};
}

Dashboard::~Dashboard() {
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace shop
