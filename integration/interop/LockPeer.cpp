// zklock's recipes as a peer, for fleet_test.cpp: does what each line of its input says, and answers with one line.
#include "crowd.hpp"

#include <zklock/recipes/nodes/group_member.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>
#include <vector>

using namespace zklock;

namespace {

class Peer {
 public:
  Peer(const std::string& servers, std::chrono::seconds timeout)
      : client_{{.connect_string = servers, .session_timeout = timeout}} {}

  std::string answer(const std::string& line) {
    std::istringstream input{line};
    try {
      return obey({std::istream_iterator<std::string>{input}, {}});
    } catch (const std::exception& error) {
      return std::string{"failed "} + error.what();
    }
  }

 private:
  /// "work KIND PATH 1 TIMES FILE", "hold KIND PATH FILE", "add PATH DIFFERENCE TIMES FILE", "join PATH ID PAYLOAD",
  /// "members PATH"
  std::string obey(const std::vector<std::string>& words) {
    const std::string& order = words.at(0);
    if (order == "work" && words.at(3) == "1") {
      test::work(client_, words.at(1), words.at(2), std::stoi(words.at(4)), words.at(5));
    } else if (order == "hold") {
      turn_ = test::turns(client_, words.at(1), words.at(2))();
      test::note(words.at(3), "in", turn_);
    } else if (order == "add") {
      test::add(client_, words.at(1), std::stoi(words.at(2)), std::stoi(words.at(3)), words.at(4));
    } else if (order == "join") {
      member_.emplace(client_, words.at(1), words.at(2), words.at(3));
    } else if (order == "members") {
      return test::shown(member_.value().group());
    } else {
      throw std::invalid_argument{order};
    }
    return "yes";
  }

  Client client_;
  Lease turn_;
  std::optional<GroupMember> member_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  Peer peer{argv[1], std::chrono::seconds{std::atoi(argv[2])}};
  for (std::string line; std::getline(std::cin, line);) std::cout << peer.answer(line) << std::endl;
}
