// The fixture of the contract's tests, which run on a real server and on the fake ensemble.
#pragma once

#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <zklock/transaction.hpp>

#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace zklock::test {

/// The server or ensemble that a test runs on.
struct Backend {
  explicit Backend(const char* with_name) : name{with_name} {}
  const char* name;

  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual Client client(ClientConfig config = {}) = 0;
  /// A client of an ensemble without extended types.
  virtual Client plain_client() = 0;
  virtual void expire(const Session& session) = 0;
  virtual std::size_t watches() = 0;
  /// What it does where a client may not read a node (support/fixture.hpp).
  virtual bool hides_events() = 0;
  virtual bool refuses_exists() = 0;
};

/// Each backend in turn; Catch2 runs the test once for each.
Backend& each_backend();

/// Operations that wait for their outcome; those without a result return only the error.
struct Caller {
  Client client;
  Session session = connected_session(client);

  template <class... Results, class Start>
  static auto wait(Start start) {
    return outcome_of_operation<Results...>(std::move(start));
  }
  std::tuple<error_code, CreateResult> create(const std::string& path, const std::string& data = "",
                                              const NodeOptions& options = {}) const {
    return wait<CreateResult>([&](auto token) { session.async_create(path, data, options, std::move(token)); });
  }
  error_code try_create(const std::string& path, const NodeOptions& options = {}) const {
    return std::get<0>(create(path, "", options));
  }
  CreateResult made(const std::string& path, const std::string& data = "", const NodeOptions& options = {}) const {
    auto [error, node] = create(path, data, options);
    INFO(path << ": " << error.message());
    REQUIRE_FALSE(error);
    return node;
  }
  error_code remove(const std::string& path, std::int32_t version = any_version) const {
    return std::get<0>(wait<>([&](auto token) { session.async_remove(path, version, std::move(token)); }));
  }
  std::tuple<error_code, Stat> set(const std::string& path, const std::string& data,
                                   std::int32_t version = any_version) const {
    return wait<Stat>([&](auto token) { session.async_set_data(path, data, version, std::move(token)); });
  }
  std::tuple<error_code, DataResult> get(const std::string& path) const {
    return wait<DataResult>([&](auto token) { session.async_get_data(path, std::move(token)); });
  }
  std::tuple<error_code, ChildrenResult> list(const std::string& path) const {
    return wait<ChildrenResult>([&](auto token) { session.async_get_children(path, std::move(token)); });
  }
  std::tuple<error_code, std::optional<Stat>> look(const std::string& path) const {
    return wait<std::optional<Stat>>([&](auto token) { session.async_exists(path, std::move(token)); });
  }
  std::optional<Stat> stat(const std::string& path) const {
    auto [error, found] = look(path);
    REQUIRE_FALSE(error);
    return found;
  }
  std::tuple<error_code, AclResult> acl(const std::string& path) const {
    return wait<AclResult>([&](auto token) { session.async_get_acl(path, std::move(token)); });
  }
  error_code set_acl(const std::string& path, const Acl& acl, std::int32_t version = any_version) const {
    return std::get<0>(wait<>([&](auto token) { session.async_set_acl(path, acl, version, std::move(token)); }));
  }
  std::tuple<error_code, TransactionResults> commit(const Transaction& transaction) const {
    return wait<TransactionResults>([&](auto token) { session.async_commit(transaction, std::move(token)); });
  }
  Watch watch_existence(const std::string& path) const {
    auto [error, found, watch] =
        wait<std::optional<Stat>, Watch>([&](auto token) { session.async_exists_and_watch(path, std::move(token)); });
    REQUIRE_FALSE(error);
    return std::move(watch);
  }
  Watch watch_data(const std::string& path) const {
    auto [error, data, watch] =
        wait<DataResult, Watch>([&](auto token) { session.async_get_data_and_watch(path, std::move(token)); });
    REQUIRE_FALSE(error);
    return std::move(watch);
  }
  Watch watch_children(const std::string& path) const {
    auto [error, children, watch] =
        wait<ChildrenResult, Watch>([&](auto token) { session.async_get_children_and_watch(path, std::move(token)); });
    REQUIRE_FALSE(error);
    return std::move(watch);
  }
};

/// A watch on which a wait is always under way, so that a test can ask whether it has fired.
struct Watched {
  Watch watch;
  Pending<WatchEvent> event;

  explicit Watched(Watch set) : watch{std::move(set)} { watch.async_wait(event.handler()); }
  WatchEventType type() {
    const auto [error, seen] = event.get();
    REQUIRE_FALSE(error);
    return seen.type;
  }
};

struct Contract : Caller {
  Backend& backend;
  std::string path = fresh_path();
  Catch::ScopedMessage where{Catch::MessageBuilder{"INFO", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info}
                             << backend.name};

  Contract() : Contract{each_backend()} {}
  explicit Contract(Backend& chosen) : Caller{chosen.client()}, backend{chosen} {
    const error_code error = try_create("/test");
    REQUIRE((!error || error == Error::node_exists));
    made(path);
  }
};

}  // namespace zklock::test

/// A test that runs on both.
#define CONTRACT(title) TEST_CASE_METHOD(zklock::test::Contract, title)
