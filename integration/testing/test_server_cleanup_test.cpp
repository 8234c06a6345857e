// What a TestServer leaves behind at its end: nothing.
#include "descriptor.hpp"
#include "server_observation.hpp"
#include "support/await.hpp"
#include "support/catch.hpp"

#include <zklock/testing/test_server.hpp>

#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using zklock::test::eventually;
using zklock::test::exists;
using zklock::test::parent;
using zklock::test::state_and_parent;
using zklock::testing::Descriptor;
using zklock::testing::TestServer;
namespace fs = std::filesystem;

// This process's descriptors: all, or those that a program it executes would inherit.
std::set<int> open_descriptors(bool only_inheritable = false) {
  std::set<int> numbers;
  for (int number = 0; number < 1024; ++number)
    if (const int flags = ::fcntl(number, F_GETFD); flags >= 0 && !(only_inheritable && (flags & FD_CLOEXEC) != 0))
      numbers.insert(number);
  return numbers;
}

}  // namespace

TEST_CASE("the destructor leaves no process, no directory and no descriptor") {
  const auto before = open_descriptors();
  const auto inheritable = open_descriptors(true);
  int pid = 0;
  int guard = 0;
  fs::path directory;
  const auto ending = GENERATE(0, 1, 2);
  {
    TestServer server;
    pid = server.pid();
    guard = parent(pid);
    directory = server.directory();
    CHECK(open_descriptors(true) == inheritable);
    if (ending == 1) server.pause();
    if (ending == 2) server.stop();
  }
  CHECK_FALSE(exists(pid));
  CHECK_FALSE(exists(guard));
  CHECK_FALSE(fs::exists(directory));
  CHECK(open_descriptors() == before);
  CHECK_FALSE(fs::exists("/tmp/hsperfdata_" + std::to_string(pid)));
}

TEST_CASE("the destructor leaves nothing when the guard was killed") {
  int pid = 0;
  fs::path directory;
  {
    const TestServer server;
    pid = server.pid();
    directory = server.directory();
    REQUIRE(::kill(parent(pid), SIGKILL) == 0);
  }
  CHECK(eventually([&] { return !exists(pid) || state_and_parent(pid).front() == 'Z'; }));
  CHECK_FALSE(fs::exists(directory));
}

TEST_CASE("after SIGKILL to the owner its server ends and the directory is deleted") {
  const auto last_act = GENERATE(0, 1, 2);  // run, pause, stop
  int line[2]{};
  REQUIRE(::pipe2(line, O_CLOEXEC) == 0);
  const Descriptor input{line[0]};
  Descriptor output{line[1]};
  const int owner = ::fork();
  REQUIRE(owner >= 0);
  if (owner == 0) {  // the child must not return into the test
    try {
      TestServer server;
      const std::string report =
          std::to_string(server.pid()) + " " + std::to_string(parent(server.pid())) + " " + server.directory().string();
      if (last_act == 1) server.pause();
      if (last_act == 2) server.stop();
      if (::write(output.get(), report.data(), report.size()) > 0)
        while (true) ::pause();
    } catch (...) {
    }
    ::_exit(1);
  }
  output.reset();
  std::string report(4096, '\0');
  const auto size = ::read(input.get(), report.data(), report.size());
  REQUIRE(size > 0);
  report.resize(static_cast<std::size_t>(size));
  std::istringstream words{report};
  int pid = 0;
  int guard = 0;
  std::string directory;
  words >> pid >> guard >> directory;
  REQUIRE(exists(pid) == (last_act != 2));
  REQUIRE(fs::is_directory(directory));
  REQUIRE(::kill(owner, SIGKILL) == 0);
  REQUIRE(::waitpid(owner, nullptr, 0) == owner);
  CHECK(eventually([&] { return !exists(pid) && !fs::exists(directory); }));
  // The process that inherits the guard may reap it or not.
  CHECK(eventually([&] { return !exists(guard) || state_and_parent(guard).front() == 'Z'; }));
}
