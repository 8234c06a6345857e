#include "cluster.hpp"

#include <zklock/client.hpp>

#include <cstdio>
#include <stdexcept>
#include <utility>

namespace zklock::chaos {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<test::Network> network_if_any(int hosts) {
  try {
    return std::make_unique<test::Network>(static_cast<std::size_t>(hosts));
  } catch (const test::NetworkUnavailable&) {
    return nullptr;
  }
}

/// Nothing, if the server does not serve: it may have left the others again, or have ended by itself.
std::optional<std::int64_t> differences_of(const testing::TestServer& server) {
  try {
    const auto all = server.monitor();
    const auto found = all.find("zk_digest_mismatches_count");
    if (found != all.end()) return std::stoll(found->second);
  } catch (const std::runtime_error&) {
  }
  return std::nullopt;
}

}  // namespace

Cluster::Cluster(int servers) {
  testing::TestServerOptions options{.tick = tick,
                                     .container_check = 50ms,
                                     .start_timeout = 180s,  // a follower may try to join more than once
                                     .jvm_options = {"-Dzookeeper.preAllocSize=1024"}};  // of the logs: they are copied
  if (servers == 1) {
    single_.emplace(options);
    return;
  }
  network_ = network_if_any(servers);
  // A server that is cut off keeps its clients for longer than their sessions last: its answers prove nothing then.
  testing::TestEnsembleOptions all{.init_limit = 10, .sync_limit = 15, .server = options};
  if (network_) {
    all.addresses = network_->addresses();
    all.launchers = network_->launchers();
  }
  ensemble_.emplace(all);
}

std::vector<Cluster::Address> Cluster::addresses() const {
  std::vector<Address> all;
  for (std::size_t i = 0; i < size(); ++i) {
    const std::string text = server(i).connect_string();
    all.push_back({text.substr(0, text.rfind(':')), server(i).port()});
  }
  return all;
}

std::string Cluster::connect_string() const {
  return ensemble_ ? ensemble_->connect_string() : single_->connect_string();
}

void Cluster::wait_serving() {
  for (int tries_left = 3;; --tries_left) {
    if (ensemble_) ensemble_->wait_quorum();
    if (carries_out_writes()) return;
    if (tries_left == 0) throw std::runtime_error{"the servers carry out no write"};
    std::puts("the servers carry out no write: the leader is started again");
    const std::size_t stuck = leader();  // when it is killed, another one leads
    server(stuck).kill();
    server(stuck).start();
  }
}

/// A session is made by a write.
bool Cluster::carries_out_writes() const { return Client{{.connect_string = connect_string()}}.wait_connected(10s); }

void Cluster::end_session(std::int64_t id, std::string_view password) {
  ensemble_ ? ensemble_->end_session(id, password) : single_->end_session(id, password);
}

std::vector<std::size_t> Cluster::find_strayed() {
  if (!ensemble_) return {};  // it is alone
  const std::size_t leading = leader();
  std::vector<Differences> now;
  std::vector<std::size_t> followers;
  for (std::size_t i = 0; i < size(); ++i) {
    const auto number = differences_of(server(i));
    if (!number) return {};  // all are asked the next time
    now.push_back({server(i).pid(), *number});
    const bool is_same_process = !differences_.empty() && differences_[i].pid == now[i].pid;
    if (i != leading && *number > (is_same_process ? differences_[i].number : 0)) followers.push_back(i);
  }
  differences_ = std::move(now);
  if (followers.size() == size() - 1) return {leading};
  return followers;
}

void Cluster::renew(std::size_t index, const std::filesystem::path& directory) {
  server(index).kill();
  keep_logs(index, directory);
  for (const auto& entry : std::filesystem::recursive_directory_iterator{server(index).directory()})
    if (entry.path().filename() == "version-2") {
      std::filesystem::remove_all(entry.path());
      break;
    }
  static_cast<void>(leader());  // the others have one, so that this one cannot take part in the election
  server(index).start();
  wait_serving();
}

void Cluster::stop_and_keep_logs(const std::filesystem::path& directory) {
  for (std::size_t i = 0; i < size(); ++i) {
    server(i).stop();
    keep_logs(i, directory);
  }
}

void Cluster::keep_logs(std::size_t index, const std::filesystem::path& directory) const {
  constexpr std::uintmax_t header = 16;  // a killed server may not have written it
  for (const auto& entry : std::filesystem::recursive_directory_iterator{server(index).directory()})
    if (entry.path().filename().string().starts_with("log.") && entry.path().parent_path().filename() == "version-2" &&
        entry.file_size() >= header)
      std::filesystem::copy_file(entry.path(), directory / ("log." + std::to_string(index) + "." +
                                                            entry.path().filename().string().substr(4)));
}

}  // namespace zklock::chaos
