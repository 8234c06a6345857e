// How the tests of TestServer look at a server: as a process, as a client, and by its errors.
#pragma once

#include "descriptor.hpp"
#include "support/await.hpp"
#include "wire.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace zklock::test {

/// "pid (name) state parent ..."; empty when there is no such process, not even a zombie.
inline std::string state_and_parent(const std::filesystem::path& process) {
  std::string stat;
  std::getline(std::ifstream{process / "stat"}, stat);
  return stat.empty() ? stat : stat.substr(stat.rfind(") ") + 2);
}

inline std::string state_and_parent(int pid) {
  return state_and_parent(std::filesystem::path{"/proc"} / std::to_string(pid));
}

inline bool exists(int pid) { return !state_and_parent(pid).empty(); }

inline int parent(int pid) { return std::stoi(state_and_parent(pid).substr(2)); }

inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
    return {};
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

/// The simplest client: it never pings.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, const testing::wire::SessionName& session = {},
                     std::chrono::milliseconds limit = 30s)
      : connection_{port, testing::after(limit)} {
    connection_.send_connect(session, 10'000);
    session_ = connection_.receive_connected();
  }
  [[nodiscard]] const testing::wire::SessionName& session() const { return session_; }

  std::int32_t create(std::string_view path, int flags) {
    constexpr int one_acl = 1;
    constexpr int all_permissions = 31;
    testing::wire::Record body;
    body.put_buffer(path).put_buffer("data").put_int(one_acl).put_int(all_permissions);
    connection_.send_request(testing::wire::Opcode::create,
                             body.put_buffer("world").put_buffer("anyone").put_int(flags));
    return connection_.receive_reply();
  }
  bool has(std::string_view path) {
    connection_.send_request(testing::wire::Opcode::exists, testing::wire::Record{}.put_buffer(path).put_bool(false));
    return connection_.receive_reply() == 0;
  }

 private:
  testing::wire::Connection connection_;
  testing::wire::SessionName session_;
};

}  // namespace zklock::test
