// Runs a program against a ZooKeeper server of its own: with_server PROGRAM [ARGUMENT...]. The server's connect string
// is the program's last argument; the program's exit status is ours.
#include <zklock/testing/test_server.hpp>

#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

int run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int error = ::posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ); error != 0)
    throw std::system_error{error, std::generic_category(), words.front()};
  int status = 0;
  if (::waitpid(child, &status, 0) != child) throw std::runtime_error{"waitpid"};
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) throw std::invalid_argument{"usage: with_server PROGRAM [ARGUMENT...]"};
  const zklock::testing::TestServer server;
  std::vector<std::string> words{argv + 1, argv + argc};
  words.push_back(server.connect_string());
  return run(std::move(words));
} catch (const std::exception& error) {
  std::cerr << "with_server: " << error.what() << '\n';
  return 125;
}
