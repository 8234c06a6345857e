// The servers of a campaign, one or three.
#pragma once

#include "support/network.hpp"

#include <zklock/testing/test_ensemble.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::chaos {

inline constexpr std::chrono::milliseconds tick{200};

/// Three servers are in network namespaces of their own, if this process may make some, so that the links between them
/// can be cut.
///
/// Threads: those that its own thread has started; one at a time, but for `addresses`.
class Cluster {
 public:
  explicit Cluster(int servers);

  struct Address {
    std::string host;
    std::uint16_t port;
  };
  [[nodiscard]] std::vector<Address> addresses() const;
  [[nodiscard]] std::string connect_string() const;
  [[nodiscard]] std::size_t size() const noexcept { return ensemble_ ? ensemble_->size() : 1; }
  [[nodiscard]] testing::TestServer& server(std::size_t index) {
    return ensemble_ ? ensemble_->server(index) : *single_;
  }
  [[nodiscard]] const testing::TestServer& server(std::size_t index) const {
    return ensemble_ ? ensemble_->server(index) : *single_;
  }
  [[nodiscard]] std::size_t leader() const { return ensemble_ ? ensemble_->leader() : 0; }
  /// Waits until each server follows or leads, and they carry out a write. If they do not, the leader is killed and
  /// started again, as an operator would do: 3.8.0 can come to a state in which each server logs what the leader
  /// proposes, and none carries it out (docs/reliability.md).
  void wait_serving();

  /// The servers that do not have the others' state, as a 3.8.0 server that has lost transactions of its log
  /// (docs/reliability.md). With each transaction the leader sends a digest of its state, and the servers count where
  /// theirs is another one. Where all followers differ, the leader has strayed. Each is told once; a single server, and
  /// servers not all of which answer, are not judged.
  [[nodiscard]] std::vector<std::size_t> find_strayed();
  /// Lets the server begin without data, and get the others'. Its transaction logs are kept as by stop_and_keep_logs().
  void renew(std::size_t index, const std::filesystem::path& directory);

  [[nodiscard]] bool can_cut_links() const noexcept { return network_ != nullptr; }
  void cut_off(std::size_t index) { network_->cut_off(index); }
  void rejoin(std::size_t index) { network_->rejoin(index); }

  void end_session(std::int64_t id, std::string_view password);
  /// Ends the servers in good order and copies their transaction logs, "log.<server>.<zxid>".
  void stop_and_keep_logs(const std::filesystem::path& directory);

 private:
  struct Differences {
    int pid = 0;
    std::int64_t number = 0;  // since that process began
  };
  [[nodiscard]] bool carries_out_writes() const;
  void keep_logs(std::size_t index, const std::filesystem::path& directory) const;

  std::unique_ptr<test::Network> network_;
  std::optional<testing::TestEnsemble> ensemble_;
  std::optional<testing::TestServer> single_;
  std::vector<Differences> differences_;  // of each server, as last seen; empty: never
};

}  // namespace zklock::chaos
