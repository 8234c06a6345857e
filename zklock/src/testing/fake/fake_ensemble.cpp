#include "client_core.hpp"
#include "fake_driver.hpp"
#include "fake_world.hpp"

#include <zklock/testing/fake_ensemble.hpp>

#include <stdexcept>

namespace zklock::testing {

struct FakeEnsemble::Impl {
  std::shared_ptr<fake::World> world;

  /// Runs `act` inside the ensemble, under its mutex.
  template <class Act>
  auto inside(Act act) const {
    const std::lock_guard lock{world->mutex};
    return act(*world);
  }
};

namespace {

std::shared_ptr<fake::World> make_world(FakeEnsembleOptions options) {
  auto loop = std::make_unique<Loop>("zklock-fake", Loop::AtEnd::drop);
  auto executor = loop->executor();
  return std::make_shared<fake::World>(options, std::move(executor), std::move(loop));
}

}  // namespace

FakeEnsemble::FakeEnsemble(FakeEnsembleOptions options) : impl_{std::make_unique<Impl>(Impl{make_world(options)})} {}

FakeEnsemble::FakeEnsemble(asio::any_io_executor executor, FakeEnsembleOptions options)
    : impl_{std::make_unique<Impl>(Impl{std::make_shared<fake::World>(options, std::move(executor), nullptr)})} {}

FakeEnsemble::~FakeEnsemble() {
  impl_->inside([](fake::World& world) { world.shut_down(); });
}

// ---- clients

std::string FakeEnsemble::connect_string() const {
  std::string all;
  for (int i = 0; i < impl_->world->options.servers; ++i)
    all += (all.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(2181 + i);
  return all;
}

std::function<std::shared_ptr<Driver>(asio::any_io_executor, DriverOptions)> FakeEnsemble::driver_factory() {
  return [world = impl_->world](asio::any_io_executor executor, DriverOptions options) {
    return std::make_shared<fake::Driver>(world, std::move(executor), std::move(options));
  };
}

namespace {

ClientConfig pointed_at(const FakeEnsemble& ensemble, ClientConfig config) {
  if (config.connect_string.empty() || config.connect_string.front() == '/')
    config.connect_string = ensemble.connect_string() + config.connect_string;
  return config;
}

}  // namespace

Client FakeEnsemble::make_client(ClientConfig config) {
  return zklock::detail::ClientAccess::make(std::make_shared<Runtime>(), pointed_at(*this, std::move(config)),
                                            driver_factory());
}

Client FakeEnsemble::make_client(asio::any_io_executor executor, ClientConfig config) {
  return zklock::detail::ClientAccess::make(std::make_shared<Runtime>(std::move(executor)),
                                            pointed_at(*this, std::move(config)), driver_factory());
}

// ---- faults

void FakeEnsemble::cut(std::int64_t session) {
  impl_->inside([=](fake::World& world) { world.cut(session); });
}

void FakeEnsemble::cut_all() {
  impl_->inside([](fake::World& world) {
    for (const std::int64_t id : world.session_ids()) world.cut(id);
  });
}

void FakeEnsemble::refuse_connections() {
  impl_->inside([](fake::World& world) { world.refusing = true; });
}

void FakeEnsemble::accept_connections() {
  impl_->inside([](fake::World& world) { world.refusing = false; });
}

void FakeEnsemble::expire(std::int64_t session) {
  impl_->inside([=](fake::World& world) { world.end_session(session); });
}

void FakeEnsemble::hold_replies(std::int64_t session) {
  impl_->inside([=](fake::World& world) {
    if (fake::Connection* connection = world.connection_of(session)) connection->hold(true);
  });
}

void FakeEnsemble::hold_all_replies() {
  impl_->inside([](fake::World& world) {
    world.holding = true;
    for (const std::int64_t id : world.session_ids())
      if (fake::Connection* connection = world.connection_of(id)) connection->hold(true);
  });
}

void FakeEnsemble::release_replies() {
  impl_->inside([](fake::World& world) {
    world.holding = false;
    for (const std::int64_t id : world.session_ids())
      if (fake::Connection* connection = world.connection_of(id)) connection->hold(false);
  });
}

void FakeEnsemble::set_latency(std::chrono::microseconds one_way) {
  impl_->inside([=](fake::World& world) { world.options.latency = one_way; });
}

void FakeEnsemble::on_call(std::function<FakeFault(const FakeCall&)> hook) {
  impl_->inside([&](fake::World& world) { world.hook.swap(hook); });
}

void FakeEnsemble::heal() {
  on_call({});
  set_latency({});
  accept_connections();
  release_replies();
}

// ---- operator

void FakeEnsemble::set_data(const std::string& path, std::string data) {
  const bool done = impl_->inside([&](fake::World& world) {
    fake::Changes changes;
    world.tree().take_number();
    const bool found = world.tree().force_data(path, std::move(data), world.wall_time(), changes);
    world.commit(std::move(changes));
    return found;
  });
  if (!done) throw std::invalid_argument{"set_data: there is no " + path};
}

void FakeEnsemble::remove(const std::string& path) {
  const bool done = impl_->inside([&](fake::World& world) {
    fake::Changes changes;
    const bool removed = world.tree().force_remove(path, changes);
    world.commit(std::move(changes));
    return removed;
  });
  if (!done) throw std::invalid_argument{"remove: there is no " + path + ", or it has children"};
}

void FakeEnsemble::set_config(std::string data) { set_data("/zookeeper/config", std::move(data)); }

// ---- inspection

namespace {

std::vector<FakeNode> nodes_of(fake::World& world) {
  std::vector<FakeNode> all;
  for (const auto& [path, node] : world.tree().nodes())
    if (path != "/zookeeper" && !path.starts_with("/zookeeper/"))
      all.push_back({path, node.data, fake::Tree::stat_of(node), node.acl});
  return all;
}

}  // namespace

std::vector<FakeNode> FakeEnsemble::nodes() const { return impl_->inside(nodes_of); }

void FakeEnsemble::on_transaction(std::function<void(const std::vector<FakeNode>&)> hook) {
  impl_->inside(
      [&](fake::World& world) { world.committed = [&world, hook = std::move(hook)] { hook(nodes_of(world)); }; });
}

std::vector<FakeSession> FakeEnsemble::sessions() const {
  return impl_->inside([](fake::World& world) {
    std::vector<FakeSession> all;
    for (const std::int64_t id : world.session_ids()) all.push_back(world.describe(id));
    return all;
  });
}

bool FakeEnsemble::is_alive(std::int64_t session) const {
  return impl_->inside([=](fake::World& world) { return world.is_alive(session); });
}

std::vector<FakeWatch> FakeEnsemble::watches() const {
  return impl_->inside([](fake::World& world) { return world.watches(); });
}

FakeCounters FakeEnsemble::counters() const {
  return impl_->inside([](fake::World& world) { return world.counters; });
}

}  // namespace zklock::testing
