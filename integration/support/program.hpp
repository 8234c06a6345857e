// The program `zklock` as a child process.
#pragma once

#include "process.hpp"

#include <string>
#include <utility>
#include <vector>

namespace zklock::test {

class Program : public Process {
 public:
  /// `words` without the program's name.
  Program(std::vector<std::string> words, std::vector<std::string> environment = {})
      : Process{ZKLOCK_PROGRAM, std::move(words), std::move(environment)} {}
};

}  // namespace zklock::test
