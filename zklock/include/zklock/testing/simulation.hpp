// Clients, an ensemble and a clock in one thread, for tests that decide what happens when.
#pragma once

#include <zklock/client.hpp>
#include <zklock/recipe_kit/use_tuple.hpp>
#include <zklock/testing/fake_ensemble.hpp>
#include <zklock/testing/manual_clock.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace zklock::testing {

/// What a scenario promises about an operation that it starts.
struct OperationTraits {
  std::string_view name;
  /// It completes within this time, whatever happens. Zero: it may take any time, but must complete.
  std::chrono::milliseconds within{0};
  /// When cancelled, it completes at once.
  bool can_be_cancelled = true;
};

/// An io_context, a manual clock, a fake ensemble, and the clients and actors of one scenario. Everything runs inside
/// run(), and the same way each time.
///
/// Threads: one.
class Simulation {
 public:
  /// An operation, under way or done.
  struct Operation {
    std::string client;
    std::string name;
    bool can_be_cancelled = true;
    Clock::time_point started{};
    Clock::time_point completed{};
    Deadline deadline{};
    bool cancelled = false;
    int completions = 0;
    error_code outcome{};
    asio::cancellation_signal signal{};

    [[nodiscard]] bool is_done() const noexcept { return completions > 0; }
  };

  /// The token with which an operation is started: one type for all operations with the same results, which compiles
  /// once.
  template <class... Results>
  class Completion {
   public:
    using executor_type = asio::any_io_executor;
    using cancellation_slot_type = asio::cancellation_slot;

    Completion(Operation& operation, executor_type executor, zklock::detail::Handler<Results...> handler)
        : operation_{&operation}, executor_{std::move(executor)}, handler_{std::move(handler)} {}

    [[nodiscard]] executor_type get_executor() const noexcept { return executor_; }
    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept { return operation_->signal.slot(); }

    void operator()(error_code error, Results... results) {
      if (++operation_->completions > 1) return;  // reported at the end
      operation_->outcome = error;
      operation_->completed = Clock::now();
      handler_(error, std::move(results)...);
    }

   private:
    Operation* operation_;
    executor_type executor_;
    zklock::detail::Handler<Results...> handler_;
  };

  explicit Simulation(std::uint64_t seed = 1, FakeEnsembleOptions options = {});
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  [[nodiscard]] asio::io_context& context() noexcept { return context_; }
  [[nodiscard]] asio::any_io_executor executor() { return context_.get_executor(); }
  [[nodiscard]] ManualClock& clock() noexcept { return clock_; }
  [[nodiscard]] FakeEnsemble& ensemble() noexcept { return ensemble_; }
  [[nodiscard]] const FakeEnsemble& ensemble() const noexcept { return ensemble_; }

  /// Returns the client of that name; the first call makes it.
  Client& client(const std::string& name, ClientConfig config);
  Client& client(const std::string& name);  // no default argument: g++ 12 destroys such a temporary twice

  /// Starts a coroutine by which one of the scenario's parties acts. The scenario is over when all coroutines have
  /// returned. The captures of the body live as long as the simulation.
  void actor(std::function<asio::awaitable<void>()> body);

  /// Starts an operation of a client: `initiate(token)` must call the asynchronous function. An exploration sees the
  /// operation, may cancel it, and checks that it completes once and in time.
  ///
  ///   auto [error, lease] = co_await simulation.operation<Lease>(
  ///       "a", {"acquire", 5s}, [&](auto token) { mutex.async_acquire(5s, std::move(token)); });
  template <class... Results, class Token = UseTuple>
  auto operation(std::string_view client, OperationTraits traits,
                 std::type_identity_t<std::function<void(Completion<Results...>)>> initiate, Token&& token = {}) {
    return asio::async_initiate<Token, void(error_code, Results...)>(
        [this, client, traits](auto handler, std::function<void(Completion<Results...>)> start) {
          asio::any_io_executor where = asio::get_associated_executor(handler, context_.get_executor());
          start({begin(client, traits), std::move(where), std::move(handler)});
        },
        token, std::move(initiate));
  }

  /// A condition that must be true whenever nothing is ready to run.
  void invariant(std::string name, std::function<bool()> holds);
  /// A condition that must become true soon after the scenario is over and its actors have released everything.
  void at_the_end(std::string name, std::function<bool()> holds);
  /// Reports a failure at once.
  void fail(std::string what) { failures_.push_back(std::move(what)); }

  /// Calls `action` after `wait`, never at once.
  void after(Clock::duration wait, std::function<void()> action);
  void cancel(std::size_t operation);
  /// Pauses the process until then: timers that were due meanwhile are late. To be called inside run().
  void oversleep(Clock::time_point until);
  /// When the process last woke from a pause; the beginning of time if it never paused.
  [[nodiscard]] Clock::time_point woke() const noexcept { return woke_; }

  /// Runs until all actors have returned. Then runs until no ephemeral node and no watch except those under /zookeeper
  /// is left, and the conditions of at_the_end are true. Then closes the clients, and runs until the io_context is out
  /// of work. It is a failure if any of that does not happen, or if an operation completes twice, never or late.
  void run();

  [[nodiscard]] const std::vector<std::string>& failures() const noexcept { return failures_; }
  [[nodiscard]] const std::list<Operation>& operations() const noexcept { return operations_; }
  [[nodiscard]] Operation& operation_at(std::size_t index);
  [[nodiscard]] std::vector<std::string> client_names() const;
  /// Closes a client. It is a failure if a node of one of its sessions exists when the client is closed, unless the
  /// client has slept meanwhile.
  void close_client(std::size_t index);
  /// Breaks a client's connection, if it has one.
  void cut_client(std::size_t index);
  /// Deletes the node and its descendants, as an operator.
  void delete_as_operator(const std::string& path);
  /// Whether an operator has deleted a node of this path: its client does not hold a lock by it any more.
  [[nodiscard]] bool was_deleted_by_operator(const std::string& path) const { return deleted_.contains(path); }
  [[nodiscard]] bool has_operator_deleted() const noexcept { return !deleted_.empty(); }
  /// Whether the directory was created after a node in it that an operator has deleted. Then the directory itself was
  /// deleted, too, and its sequence numbers have begun again.
  [[nodiscard]] bool was_made_anew(const std::string& directory) const;

 private:
  struct Check {
    std::string name;
    std::function<bool()> holds;
  };
  struct NamedClient {
    std::string name;
    Client client;
    std::set<std::int64_t> sessions{};  // all that it has had
  };

  Operation& begin(std::string_view client, const OperationTraits& traits);
  [[nodiscard]] bool run_until(const std::function<bool()>& done, Clock::duration limit);
  void settle();
  void check();
  void check_closed(const NamedClient& closed, Clock::time_point begun);
  [[nodiscard]] std::string orphans() const;
  void close_clients();

  ManualClock clock_;
  asio::io_context context_{1};
  FakeEnsemble ensemble_;
  std::list<NamedClient> clients_;
  std::list<std::function<asio::awaitable<void>()>> bodies_;
  int actors_ = 0;
  Clock::time_point woke_{};
  std::list<Operation> operations_;
  std::vector<Check> invariants_;
  std::vector<Check> end_checks_;
  std::map<std::string, std::int64_t> deleted_;  // paths that the operator has deleted, and their last czxid
  std::vector<std::string> failures_;
};

}  // namespace zklock::testing
