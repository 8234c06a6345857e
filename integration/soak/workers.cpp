#include "workers.hpp"

#include "support/fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <deque>
#include <exception>
#include <random>
#include <thread>

namespace zklock::test {
namespace {

/// How many things of a kind a worker keeps between its turns.
constexpr std::size_t kept = 8;

ClientConfig config_for(const std::string& address, std::size_t sessions) {
  return {.connect_string = address,
          .session_timeout = 2s,
          .connection_timeout = 5s,
          .operation_timeout = 10s,
          .retry = ExponentialBackoffRetry{.base = 20ms, .max_retries = 8},
          .sessions = sessions};
}

/// A lost link or session, or a consequence of it: a node that exists already, or does not exist any more.
bool is_explained(error_code error) {
  return !error || is_retryable(error) || is_session_lost(error) || error == Error::timed_out ||
         error == Error::no_node || error == Error::node_exists || error == Error::rolled_back ||
         error == LockError::lock_lost || error == asio::error::operation_aborted;
}

/// True: the operation succeeded. Throws an error that no fault explains.
bool check(error_code error, const char* what) {
  if (!is_explained(error)) throw boost::system::system_error{error, what};
  return !error;
}

template <class... Results, class Operation>
bool done(const char* what, Operation&& operation) {
  return check(std::get<0>(outcome_of_operation<Results...>(std::forward<Operation>(operation))), what);
}

}  // namespace

std::string_view to_string(Deed deed) noexcept {
  constexpr std::string_view names[deeds] = {"reads",        "watches",        "nodes",         "transactions", "locks",
                                             "thread locks", "given-up locks", "subscriptions", "clients"};
  return names[static_cast<std::size_t>(deed)];
}

struct Workers::Worker {
  Worker(Workers& w, std::size_t number, std::uint64_t seed)
      : workers{w},
        address{w.addresses_[number % w.addresses_.size()]},
        directory{"/soak/" + std::to_string(number)},
        random{seed * 1'000 + number},
        client{config_for(address, number % 3 == 0 ? 2 : 1)} {
    static_cast<void>(connected_session(client));
    for (const std::string name : {"/a", "/b", "/c", "/d"}) {  // of two sessions, some nodes on each
      const auto options = CreateOptions{}.creating_parents().idempotent();
      check(std::get<0>(outcome_of_operation<CreateResult>(
                [&](auto token) { client.async_create(directory + name, "", options, std::move(token)); })),
            "setting up");
    }
    act(Deed::subscribe);  // starts the thread for callbacks
    forget();
  }

  Workers& workers;
  std::string address;
  std::string directory;
  std::mt19937_64 random;
  Client client;
  std::deque<Watch> watches{};
  std::deque<StateSubscription> subscriptions{};
  std::thread thread{};

  std::uint64_t below(std::uint64_t limit) { return random() % limit; }
  bool by_chance() { return below(2) == 0; }
  std::string some_node() { return directory + "/" + static_cast<char>('a' + below(4)); }
  /// Few locks, so that several workers are in a wait queue.
  std::string some_lock() { return "/locks/" + std::to_string(below(2)); }

  void run() {
    try {
      for (State state = workers.state(); state != State::stopping; state = workers.state()) {
        if (state == State::working) {
          take_turn();
        } else {
          forget();
          workers.rest_here();
        }
      }
    } catch (const std::exception& error) {
      const std::scoped_lock lock{workers.mutex_};
      workers.failure_ += directory + ": " + error.what() + "\n";
      workers.state_ = State::stopping;
      workers.changed_.notify_all();
    }
    forget();
  }

  void take_turn() {
    const auto deed = Deed{static_cast<int>(below(deeds))};
    Count& count = workers.counts_[static_cast<std::size_t>(deed)];
    ++count.tried;
    if (act(deed)) ++count.done;
  }

  void forget() {
    watches.clear();
    subscriptions.clear();
  }

  bool act(Deed deed) {
    switch (deed) {
      case Deed::read: return read(client);
      case Deed::watch: return watch();
      case Deed::create: return create();
      case Deed::transact: return transact();
      case Deed::lock: return lock();
      case Deed::lock_in_thread: return lock_in_thread();
      case Deed::give_up_lock: return give_up_lock();
      case Deed::subscribe: return subscribe();
      case Deed::make_client: return make_another_client();
    }
    return false;
  }

  bool read(const Client& from) {
    const std::string node = some_node();
    switch (below(3)) {
      case 0: return done<DataResult>("get_data", [&](auto token) { from.async_get_data(node, std::move(token)); });
      case 1: return done<ChildrenResult>("list", [&](auto token) { from.async_get_children(node, std::move(token)); });
      default:
        return done<std::optional<Stat>>("exists", [&](auto token) { from.async_exists(node, std::move(token)); });
    }
  }

  template <class Result, class Operation>
  bool keep_watch(Operation&& operation) {
    auto [error, result, set] = outcome_of_operation<Result, Watch>(std::forward<Operation>(operation));
    if (!check(error, "setting a watch")) return false;
    watches.push_back(std::move(set));
    if (watches.size() > kept) watches.pop_front();
    return true;
  }

  /// Sets a watch and keeps it for some turns. Waits for some watches, of which many fire.
  bool watch() {
    const std::string node = below(4) == 0 ? directory + "/nothing" : some_node();
    bool set = false;
    switch (below(3)) {
      case 0:
        set = keep_watch<DataResult>([&](auto token) { client.async_get_data_and_watch(node, std::move(token)); });
        break;
      case 1:
        set = keep_watch<ChildrenResult>(
            [&](auto token) { client.async_get_children_and_watch(node, std::move(token)); });
        break;
      default:
        set =
            keep_watch<std::optional<Stat>>([&](auto token) { client.async_exists_and_watch(node, std::move(token)); });
    }
    if (!set || by_chance()) return set;
    Pending<WatchEvent> event;
    watches.back().async_wait(event.handler());
    if (by_chance()) check(change(some_node()), "set_data");
    if (!event.ready(2ms)) watches.pop_back();
    return check(std::get<0>(event.get()), "waiting for a watch");
  }

  error_code change(const std::string& node) {
    return std::get<0>(
        outcome_of_operation<Stat>([&](auto token) { client.async_set_data(node, "x", {}, std::move(token)); }));
  }

  /// Makes a protected node, whose name no other client can foresee. Its delete succeeds sooner or later.
  bool create() {
    const auto mode = by_chance() ? CreateMode::ephemeral_sequential : CreateMode::persistent_sequential;
    const auto options = CreateOptions{mode}.with_protection();
    const auto [error, made] = outcome_of_operation<CreateResult>(
        [&](auto token) { client.async_create(some_node() + "/n-", "data", options, std::move(token)); });
    if (!check(error, "create")) return false;
    return done("remove", [&, path = made.path](auto token) {
      client.async_remove(path, RemoveOptions{}.guaranteed().quietly(), std::move(token));
    });
  }

  bool transact() {
    const std::string node = some_node();
    const auto transaction = Transaction{}
                                 .check(node)
                                 .create(node + "/t", "", CreateMode::ephemeral)
                                 .set_data(node, "y")
                                 .remove(node + (by_chance() ? "/t" : "/not-there"));
    return done<TransactionResults>("commit", [&](auto token) { client.async_commit(transaction, std::move(token)); });
  }

  /// Acquires with a limit that is often too short.
  bool lock() {
    const InterProcessMutex mutex{client, some_lock()};
    auto [error, lease] = outcome_of_operation<Lease>(
        [&](auto token) { mutex.async_acquire(std::chrono::milliseconds{below(60)}, std::move(token)); });
    if (!check(error, "acquire")) return false;
    read(client);
    if (by_chance()) return true;  // released in the background
    return done("release", [&, held = &lease](auto token) { held->async_release(std::move(token)); });
  }

  bool lock_in_thread() {
    InterProcessMutex mutex{client, some_lock()};
    try {
      if (!mutex.acquire(std::chrono::milliseconds{below(60)})) return false;
      const bool again = mutex.acquire(1ms);
      read(client);
      if (again) mutex.release();
      if (by_chance()) return true;  // released with the mutex
      mutex.release();
      return true;
    } catch (const boost::system::system_error& error) {
      return check(error.code(), "a thread's lock");
    }
  }

  /// Cancels the acquire at a random moment.
  bool give_up_lock() {
    const InterProcessMutex mutex{client, some_lock()};
    asio::cancellation_signal cancel;
    Pending<Lease> pending;
    asio::dispatch(client.get_executor(),
                   [&] { mutex.async_acquire(5s, asio::bind_cancellation_slot(cancel.slot(), pending.handler())); });
    static_cast<void>(pending.ready(std::chrono::milliseconds{below(10)}));
    Pending<> cancelled;
    asio::post(client.get_executor(), [&, handler = cancelled.handler()]() mutable {
      cancel.emit(asio::cancellation_type::terminal);
      handler({});
    });
    cancelled.get();
    return check(std::get<0>(pending.get()), "acquire that is given up");
  }

  bool subscribe() {
    auto states = std::make_shared<std::atomic<int>>(0);
    subscriptions.push_back(client.subscribe([states](ConnectionState) { ++*states; }));
    if (subscriptions.size() > kept) subscriptions.pop_front();
    return true;
  }

  /// The client is connected or not, used or not, closed, cut off or just dropped.
  bool make_another_client() {
    Client other{config_for(address, 1 + below(2))};
    const bool used = by_chance() && read(other);
    if (used && by_chance()) {
      const InterProcessMutex mutex{other, some_lock()};
      auto [error, lease] =
          outcome_of_operation<Lease>([&](auto token) { mutex.async_acquire(0ms, std::move(token)); });
      check(error, "acquire by another client");
      other.close();
    } else if (below(4) == 0) {
      other.abort();
    }
    return used;
  }
};

Workers::Workers(std::vector<std::string> addresses, std::size_t count, std::uint64_t seed)
    : addresses_{std::move(addresses)} {
  for (std::size_t i = 0; i < count; ++i) workers_.push_back(std::make_unique<Worker>(*this, i, seed));
  for (const auto& worker : workers_) worker->thread = std::thread{[&worker = *worker] { worker.run(); }};
}

Workers::~Workers() { stop(); }

Workers::State Workers::state() const {
  const std::scoped_lock lock{mutex_};
  return state_;
}

void Workers::rest_here() {
  std::unique_lock lock{mutex_};
  if (state_ != State::resting) return;
  ++at_rest_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return state_ != State::resting; });
  --at_rest_;
}

bool Workers::rest() {
  enter(State::resting);
  {
    std::unique_lock lock{mutex_};
    const auto all = [&] { return state_ == State::stopping || at_rest_ == workers_.size(); };
    if (!changed_.wait_for(lock, 60s, all) || state_ == State::stopping) return false;
  }
  return std::all_of(workers_.begin(), workers_.end(),
                     [](const auto& each) { return each->client.wait_connected(20s); });
}

void Workers::go_on() { enter(State::working); }

void Workers::stop() {
  enter(State::stopping);
  for (const auto& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
}

void Workers::enter(State state) {
  const std::scoped_lock lock{mutex_};
  if (state_ == State::stopping) return;
  state_ = state;
  changed_.notify_all();
}

Session Workers::session(std::size_t worker) const {
  return workers_[worker]->client.session(workers_[worker]->directory);
}

std::string Workers::failure() const {
  const std::scoped_lock lock{mutex_};
  return failure_;
}

std::int64_t Workers::turns() const noexcept {
  std::int64_t sum = 0;
  for (const Count& count : counts_) sum += count.tried;
  return sum;
}

std::string Workers::summary() const {
  std::string text;
  for (std::size_t i = 0; i < deeds; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(counts_[i].tried) + " " +
            std::string{to_string(Deed{static_cast<int>(i)})} + " (" + std::to_string(counts_[i].done) + ")";
  return text;
}

}  // namespace zklock::test
