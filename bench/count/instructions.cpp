#include "instructions.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define ZKLOCK_BENCH_CALLGRIND 1
#endif

namespace zklock::bench {

#ifdef ZKLOCK_BENCH_CALLGRIND

void start_instructions() { CALLGRIND_START_INSTRUMENTATION; }
void stop_instructions() { CALLGRIND_STOP_INSTRUMENTATION; }

namespace {

/// Gives the exit status; 127: there is no such program.
int run_program(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t process = 0;
  if (::posix_spawnp(&process, pointers[0], nullptr, nullptr, pointers.data(), environ) != 0) return 127;
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::uint64_t total_of(const std::filesystem::path& file) {
  std::ifstream lines{file};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("totals: ")) return std::stoull(line.substr(8));
  throw std::runtime_error{"callgrind has not said a total"};
}

}  // namespace

std::optional<std::uint64_t> count_instructions(const std::string& program, const std::string& workload,
                                                const std::string& server, int locks) {
  const auto file = std::filesystem::temp_directory_path() / ("zklock-callgrind-" + std::to_string(::getpid()));
  const int status =
      run_program({"valgrind", "--tool=callgrind", "--quiet", "--instr-atstart=no",
                   "--callgrind-out-file=" + file.string(), program, workload, server, std::to_string(locks)});
  if (status == 127) {
    std::printf("valgrind is not installed: no instructions\n");
    return std::nullopt;
  }
  const auto total = status == 0 ? total_of(file) : 0;
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  if (status != 0) throw std::runtime_error{"under callgrind, " + workload + " has failed"};
  return total;
}

#else

void start_instructions() {}
void stop_instructions() {}
std::optional<std::uint64_t> count_instructions(const std::string&, const std::string&, const std::string&, int) {
  std::printf("compiled without valgrind's headers: no instructions\n");
  return std::nullopt;
}

#endif

}  // namespace zklock::bench
