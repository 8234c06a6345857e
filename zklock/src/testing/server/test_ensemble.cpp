#include "polling.hpp"
#include "server_impl.hpp"

#include <zklock/testing/test_ensemble.hpp>

#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace zklock::testing {
namespace {

using namespace std::chrono_literals;

// Servers that serve answer within milliseconds; the others are asked again.
constexpr std::chrono::milliseconds one_question = 500ms;

TestEnsembleOptions checked(TestEnsembleOptions options) {
  const auto check = [](bool condition, const char* rule) { require(condition, "TestEnsembleOptions", rule); };
  check(options.size % 2 == 1 && options.size >= 3 && options.size <= 7, "size must be 3, 5 or 7");
  check(options.init_limit >= 1 && options.init_limit <= 1000, "init_limit must be from 1 to 1000");
  check(options.sync_limit >= 1 && options.sync_limit <= 1000, "sync_limit must be from 1 to 1000");
  if (options.addresses.empty())
    for (std::size_t i = 1; i <= options.size; ++i) options.addresses.push_back("127.0.0." + std::to_string(i));
  check(options.addresses.size() == options.size, "addresses must be none, or as many as servers");
  if (options.launchers.empty()) options.launchers.resize(options.size);
  check(options.launchers.size() == options.size, "launchers must be none, or as many as servers");
  options.server = checked(std::move(options.server));
  return options;
}

// A server's own report; no role while it does not serve.
struct Answer {
  std::string role;
  std::string synced_followers;
};

std::string value_of(const std::string& table, std::string_view key) {
  const auto line = table.find(key);
  if (line == std::string::npos) return {};
  const auto begin = line + key.size();
  return table.substr(begin, table.find('\n', begin) - begin);
}

Answer ask(const wire::Endpoint& server) {
  try {
    const auto table = wire::four_letter_word(server, "mntr", after(one_question));
    return {value_of(table, "zk_server_state\t"), value_of(table, "zk_synced_followers\t")};
  } catch (const std::runtime_error&) {
    return {};
  }
}

}  // namespace

struct TestEnsemble::Impl {
  explicit Impl(const TestEnsembleOptions& options);

  [[nodiscard]] std::optional<std::size_t> find(std::string_view role) const;
  [[nodiscard]] bool has_quorum() const;
  /// Asks until the answer converts to true, and returns it.
  template <class Question>
  auto wait_for(Question question, const std::string& what) const;

  std::chrono::milliseconds limit;
  std::vector<Port> ports;
  std::vector<TestServer> servers;
};

TestEnsemble::Impl::Impl(const TestEnsembleOptions& options) : limit{options.server.start_timeout} {
  std::vector<std::string> members{"initLimit=" + std::to_string(options.init_limit),
                                   "syncLimit=" + std::to_string(options.sync_limit)};
  for (std::size_t i = 0; i < options.size; ++i) {
    const std::string& address = options.addresses[i];
    std::string line = "server." + std::to_string(i + 1) + "=" + address;
    for (int purpose = 0; purpose < 2; ++purpose)  // one to follow the leader, one for elections
      line += ":" + std::to_string(ports.emplace_back(reserved_address(address)).number());
    members.push_back(std::move(line));
  }
  for (std::size_t i = 0; i < options.size; ++i) {
    TestServerOptions server = options.server;
    server.launcher.insert(server.launcher.begin(), options.launchers[i].begin(), options.launchers[i].end());
    servers.push_back(TestServer{std::make_unique<TestServer::Impl>(
        std::move(server), Place{options.addresses[i], static_cast<int>(i) + 1, members})});
  }
  for (const TestServer& server : servers) server.impl_->configure();
  for (const TestServer& server : servers) server.impl_->begin_launch();
  for (const TestServer& server : servers) server.impl_->finish_launch();
}

std::optional<std::size_t> TestEnsemble::Impl::find(std::string_view role) const {
  for (std::size_t i = 0; i < servers.size(); ++i)
    if (servers[i].impl_->active() && ask(servers[i].impl_->endpoint()).role == role) return i;
  return {};
}

bool TestEnsemble::Impl::has_quorum() const {
  std::size_t leaders = 0;
  std::size_t followers = 0;
  std::size_t silent = 0;
  std::string synced;
  for (const TestServer& server : servers) {
    if (!server.impl_->active()) continue;
    const Answer answer = ask(server.impl_->endpoint());
    if (answer.role == "leader") {
      ++leaders;
      synced = answer.synced_followers;
    } else if (answer.role == "follower") {
      ++followers;
    } else {
      ++silent;
    }
  }
  return leaders == 1 && silent == 0 && synced == std::to_string(followers);
}

template <class Question>
auto TestEnsemble::Impl::wait_for(Question question, const std::string& what) const {
  auto answer = ask_until(question, after(limit));
  if (!answer) throw servers.front().impl_->failure("belongs to " + what);
  return answer;
}

TestEnsemble::TestEnsemble(TestEnsembleOptions options) : impl_{std::make_unique<Impl>(checked(std::move(options)))} {
  wait_quorum();
}
TestEnsemble::~TestEnsemble() = default;
TestEnsemble::TestEnsemble(TestEnsemble&&) noexcept = default;
TestEnsemble& TestEnsemble::operator=(TestEnsemble&&) noexcept = default;

std::string TestEnsemble::connect_string() const {
  std::string list;
  for (const TestServer& server : impl_->servers) list += (list.empty() ? "" : ",") + server.connect_string();
  return list;
}

std::size_t TestEnsemble::size() const noexcept { return impl_->servers.size(); }
TestServer& TestEnsemble::server(std::size_t index) { return impl_->servers.at(index); }
const TestServer& TestEnsemble::server(std::size_t index) const { return impl_->servers.at(index); }

std::size_t TestEnsemble::leader() const {
  return *impl_->wait_for([this] { return impl_->find("leader"); }, "an ensemble without a leader");
}

std::size_t TestEnsemble::follower() const {
  return *impl_->wait_for([this] { return impl_->find("follower"); }, "an ensemble without followers");
}

void TestEnsemble::wait_quorum() const {
  impl_->wait_for([this] { return impl_->has_quorum(); }, "an ensemble that does not come together");
}

void TestEnsemble::end_session(std::int64_t session_id, std::string_view password) {
  server(leader()).end_session(session_id, password);
}

}  // namespace zklock::testing
