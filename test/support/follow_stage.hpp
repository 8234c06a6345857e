// What the tests of watches and caches on the fake ensemble begin with.
#pragma once

#include "catch.hpp"

#include <zklock/event_stream.hpp>
#include <zklock/testing/simulation.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace zklock::test {

/// A reader, a writer, and the count of what the reader asks for.
struct FollowStage {
  testing::Simulation simulation;
  testing::FakeEnsemble& ensemble = simulation.ensemble();
  Client& reader = simulation.client("reader", {.session_timeout = std::chrono::seconds{10}});
  Client& writer = simulation.client("writer", {.session_timeout = std::chrono::seconds{10}});
  std::shared_ptr<std::map<std::string, int>> asked = std::make_shared<std::map<std::string, int>>();

  FollowStage() {
    run(std::chrono::seconds{1});
    ensemble.on_call([asked = asked, writing = writer.session().id()](const testing::FakeCall& call) {
      if (!call.applied && call.session != writing && call.operation != "connect")
        ++(*asked)[std::string{call.operation}];
      return testing::FakeFault::none;
    });
  }

  void run(Clock::duration wait = std::chrono::milliseconds{100}) {
    simulation.clock().run_for(simulation.context(), wait);
  }

  /// The requests since the last call, by kind; neither pings nor connections count.
  std::map<std::string, int> requests() { return std::exchange(*asked, {}); }

  template <class... Results>
  using Ended = std::shared_ptr<std::optional<std::tuple<error_code, Results...>>>;

  /// One type for all operations with these results.
  template <class... Results>
  static auto note(Ended<Results...> ended) {
    return [ended](error_code error, Results... results) { ended->emplace(error, std::move(results)...); };
  }

  /// The outcome of an operation that ends within a moment; empty if it does not.
  template <class... Results, class Start>
  std::optional<std::tuple<error_code, Results...>> outcome(Start start) {
    auto ended = std::make_shared<std::optional<std::tuple<error_code, Results...>>>();
    start(asio::bind_executor(simulation.executor(), note<Results...>(ended)));
    run();
    return std::move(*ended);
  }

  Stat create(const std::string& path, const std::string& data = "", CreateOptions options = CreateMode::persistent) {
    const auto made = outcome<CreateResult>(
        [&](auto token) { writer.async_create(path, data, std::move(options), std::move(token)); });
    REQUIRE(made);
    REQUIRE_FALSE(std::get<0>(*made));
    return std::get<1>(*made).stat;
  }
  void set(const std::string& path, const std::string& data) {
    ensemble.set_data(path, data);
    run();
  }
  void remove(const std::string& path) {
    ensemble.remove(path);
    run();
  }

  /// Cuts the reader's link, and keeps it so until `connect`.
  void disconnect() {
    ensemble.refuse_connections();
    ensemble.cut(reader.session().id());
    run();
  }
  void connect() {
    ensemble.accept_connections();
    run(std::chrono::seconds{1});
  }
  void lose_session() {
    ensemble.expire(reader.session().id());
    run(std::chrono::seconds{1});
  }

  /// The next event of a stream, if there is one.
  template <class Event>
  std::optional<Event> next(EventStream<Event>& stream) {
    simulation.clock().run_ready(simulation.context());
    asio::cancellation_signal signal;
    std::optional<std::tuple<error_code, Event>> ended;
    stream.async_next(asio::bind_cancellation_slot(
        signal.slot(), asio::bind_executor(simulation.executor(), [&ended](error_code error, Event event) {
          ended.emplace(error, std::move(event));
        })));
    simulation.clock().run_ready(simulation.context());
    if (!ended) signal.emit(asio::cancellation_type::total);
    simulation.clock().run_ready(simulation.context());
    REQUIRE(ended);
    if (std::get<0>(*ended) == asio::error::operation_aborted) return std::nullopt;
    REQUIRE_FALSE(std::get<0>(*ended));
    return std::move(std::get<1>(*ended));
  }
  template <class Event>
  Event must_next(EventStream<Event>& stream) {
    auto event = next(stream);
    REQUIRE(event);
    return std::move(*event);
  }
};

}  // namespace zklock::test
