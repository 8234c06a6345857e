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
  bool hides_events() override { return hiding; }
  bool refuses_exists() override { return refusing; }

 private:
  const bool hiding = test::hides_events(server);
  const bool refusing = test::refuses_exists(server);
};

/// Hides and refuses what the other one does.
struct Fake final : Backend {
  explicit Fake(Backend& like)
      : Backend{"on the fake ensemble"},
        ensemble{
            {.extended_types = true, .hides_events = like.hides_events(), .refuses_exists = like.refuses_exists()}},
        hiding{like.hides_events()},
        refusing{like.refuses_exists()} {}
  testing::FakeEnsemble ensemble;
  testing::FakeEnsemble plain{};

  Client client(ClientConfig config) override { return ensemble.make_client(std::move(config)); }
  Client plain_client() override { return plain.make_client(); }
  void expire(const Session& session) override { ensemble.expire(session.id()); }
  std::size_t watches() override { return ensemble.watches().size(); }
  bool hides_events() override { return hiding; }
  bool refuses_exists() override { return refusing; }

 private:
  const bool hiding;
  const bool refusing;
};

}  // namespace

Backend& each_backend() {
  static RealServer real;
  if (GENERATE(true, false)) {
    static Fake fake{real};
    return fake;
  }
  return real;
}

}  // namespace zklock::test
