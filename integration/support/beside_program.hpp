// The program `zklock` beside a client that holds locks and waits for them.
#pragma once

#include "fixture.hpp"
#include "program_setup.hpp"

#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace zklock::test {

struct BesideProgram {
  testing::TestServer& server = shared_server();
  Client client = make_client(server);
  Session session = connected_session(client);
  std::string path = fresh_path();

  [[nodiscard]] std::vector<std::string> environment() const { return {"ZKLOCK_CONNECT=" + server.connect_string()}; }
  [[nodiscard]] ProgramOutcome zklock(std::vector<std::string> words) const {
    Program program{std::move(words), environment()};
    return outcome_of(program);
  }
  /// `zklock run` with a command that says its process id, and runs until its input ends.
  [[nodiscard]] Program run(std::vector<std::string> options, const std::string& before = "") const {
    options.insert(options.begin(), {"run", path});
    options.insert(options.end(), {"--", "sh", "-c", before + "echo $$; read line; exit 0"});
    return Program{std::move(options), environment()};
  }
  /// The rows of `zklock ls`, each in its words.
  [[nodiscard]] std::vector<std::vector<std::string>> rows() const {
    std::istringstream table{zklock({"ls", path}).output};
    std::vector<std::vector<std::string>> result;
    for (std::string row; std::getline(table, row);) {
      std::istringstream text{row};
      result.emplace_back(std::istream_iterator<std::string>{text}, std::istream_iterator<std::string>{});
    }
    return result;
  }
  [[nodiscard]] bool queue_length(std::size_t count) const {
    return eventually([&] { return rows().size() == 1 + count; });
  }
  [[nodiscard]] ProgramOutcome doctor(std::vector<std::string> more = {"--wait", "0s"}) const {
    more.insert(more.begin(), {"doctor", path});
    return zklock(std::move(more));
  }
  /// Makes a node below the lock's path, and the path itself if it is missing.
  void make(const std::string& name, CreateMode mode, const std::string& data = "me:1") const {
    const auto [error, node] = outcome_of_operation<CreateResult>([&](auto token) {
      client.async_create(path + "/" + name, data, CreateOptions{mode}.creating_parent_containers(), std::move(token));
    });
    if (error) throw boost::system::system_error{error};
  }
};

}  // namespace zklock::test
