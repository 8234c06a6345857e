// zklock's locks as a peer, for fleet_test.cpp: does what each line of its input says, and answers with one line.
#include "crowd.hpp"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>

using namespace zklock;

namespace {

/// "work mutex PATH 1 TIMES FILE": returns how many acquires have failed.
std::string obey(const Client& client, const std::string& line) {
  std::istringstream words{line};
  std::string order;
  std::string kind;
  std::string path;
  std::string log;
  int threads = 0;
  int times = 0;
  if (!(words >> order >> kind >> path >> threads >> times >> log) || order != "work" || kind != "mutex" ||
      threads != 1)
    return "failed " + line;
  try {
    test::work(client, path, times, log);
  } catch (const std::exception& error) {
    return std::string{"failed "} + error.what();
  }
  return "0";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const Client client{{.connect_string = argv[1], .session_timeout = std::chrono::seconds{std::atoi(argv[2])}}};
  for (std::string line; std::getline(std::cin, line);) std::cout << obey(client, line) << std::endl;
}
