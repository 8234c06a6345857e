#include "worlds.hpp"

#include <zklock/testing/fake_ensemble.hpp>
#include <zklock/testing/test_ensemble.hpp>

#include <chrono>
#include <utility>

namespace zklock::test {

namespace {

using namespace std::chrono_literals;

ClientConfig config(std::string servers = {}) {
  return {.connect_string = std::move(servers),
          .session_timeout = 10s,
          .retry = ExponentialBackoffRetry{.base = 20ms, .max_retries = 8}};
}

/// With nodes that have a time to live, as the fake ensemble has them.
testing::TestServerOptions options() { return {.jvm_options = {"-Dzookeeper.extendedTypesEnabled=true"}}; }

template <class Servers>
void end(Servers& servers, const Session& session) {
  const SessionCredentials known = session.credentials();
  servers.end_session(known.id, {known.password.data(), known.password.size()});
}

class Fake final : public World {
 public:
  std::string name() const override { return "the fake ensemble"; }
  Client client() override { return ensemble_.make_client(config()); }
  void expire(const Session& session) override { ensemble_.expire(session.id()); }
  std::int64_t watches() const override { return static_cast<std::int64_t>(ensemble_.watches().size()); }

 private:
  testing::FakeEnsemble ensemble_{{.extended_types = true}};
};

class OneServer final : public World {
 public:
  std::string name() const override { return "one server"; }
  Client client() override { return Client{config(server_.connect_string())}; }
  void expire(const Session& session) override { end(server_, session); }
  std::int64_t watches() const override { return server_.monitor("zk_watch_count"); }

 private:
  testing::TestServer server_{options()};
};

class ThreeServers final : public World {
 public:
  std::string name() const override { return "three servers"; }
  Client client() override { return Client{config(ensemble_.connect_string())}; }
  void expire(const Session& session) override { end(ensemble_, session); }
  std::int64_t watches() const override {
    std::int64_t all = 0;
    for (std::size_t i = 0; i < ensemble_.size(); ++i) all += ensemble_.server(i).monitor("zk_watch_count");
    return all;
  }

 private:
  testing::TestEnsemble ensemble_{{.server = options()}};
};

}  // namespace

const std::vector<std::unique_ptr<World>>& worlds() {
  static const auto all = [] {
    std::vector<std::unique_ptr<World>> made;
    made.push_back(std::make_unique<Fake>());
    made.push_back(std::make_unique<OneServer>());
    made.push_back(std::make_unique<ThreeServers>());
    return made;
  }();
  return all;
}

}  // namespace zklock::test
