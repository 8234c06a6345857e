// The backends of the contract: a real server, and the fake ensemble.
#include "ensemble_contract.hpp"

#include <zklock/testing/fake_ensemble.hpp>
#include <zklock/testing/test_server.hpp>

namespace zklock::test {
namespace {

const std::string extended_types = "-Dzookeeper.extendedTypesEnabled=true";

struct RealServer final : Backend {
  RealServer() : Backend{"on a real server"} {}
  testing::TestServer server{{.jvm_options = {extended_types}}};

  Client client(ClientConfig config) override {
    config.connect_string = server.connect_string();
    return Client{std::move(config)};
  }
  Client plain_client() override { return make_client(shared_server()); }
  void expire(const Session& session) override {
    const SessionCredentials known = session.credentials();
    server.end_session(known.id, {known.password.data(), known.password.size()});
  }
  std::size_t watches() override { return static_cast<std::size_t>(server.monitor("zk_watch_count")); }
};

struct Fake final : Backend {
  Fake() : Backend{"on the fake ensemble"} {}
  testing::FakeEnsemble ensemble{{.extended_types = true}};
  testing::FakeEnsemble plain{};

  Client client(ClientConfig config) override { return ensemble.make_client(std::move(config)); }
  Client plain_client() override { return plain.make_client(); }
  void expire(const Session& session) override { ensemble.expire(session.id()); }
  std::size_t watches() override { return ensemble.watches().size(); }
};

}  // namespace

Backend& each_backend() {
  if (GENERATE(true, false)) {
    static Fake fake;
    return fake;
  }
  static RealServer real;
  return real;
}

}  // namespace zklock::test
