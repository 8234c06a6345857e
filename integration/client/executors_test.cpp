// Handlers that run for a long time, on executors of every kind: the client goes on meanwhile, and its session lives.
#include "support/catch.hpp"
#include "support/fixture.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <functional>
#include <list>
#include <semaphore>
#include <thread>

using namespace zklock;
using namespace zklock::test;

namespace {

constexpr std::chrono::milliseconds short_timeout = 10s;
constexpr std::chrono::milliseconds work_time = short_timeout * 3 / 2;

/// The smallest possible executor: it has no properties, and runs every function at once.
struct Straight {
  template <class F>
  void execute(F f) const {
    f();
  }
  [[maybe_unused]] friend bool operator==(const Straight&, const Straight&) noexcept = default;
};

/// A handler that runs for work_time, and records whether it has ended on a thread other than the initiating one.
class Work {
 public:
  void operator()() {
    ++begun_;
    const bool is_initiating = std::this_thread::get_id() == owner_;
    std::binary_semaphore nothing{0};  // occupies the thread, but no processor: there are dozens of handlers
    static_cast<void>(nothing.try_acquire_for(work_time));
    if (!is_initiating) done_ = true;
  }
  [[nodiscard]] int begun() const { return begun_; }
  [[nodiscard]] bool done() const { return done_; }

 private:
  std::thread::id owner_ = std::this_thread::get_id();
  std::atomic<int> begun_{0};
  std::atomic<bool> done_{false};
};

/// More threads than there are handlers on them.
struct Threads {
  asio::thread_pool pool{48};
  asio::io_context context;
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::list<std::jthread> runners;

  Threads() {
    for (int i = 0; i < 16; ++i) runners.emplace_back([this] { context.run(); });
  }
  ~Threads() {
    work.reset();
    runners.clear();
    pool.join();
  }
};

using Start = std::function<void(const Client&, Threads&, Work&)>;

asio::awaitable<void> read_and_work(ClientHandle client, Work& work) {
  co_await client.async_get_data("/", asio::use_awaitable);
  work();
}

template <class Executor>
void read_on(const Client& client, const Executor& executor, Work& work) {
  client.async_get_data("/", asio::bind_executor(executor, [&work](error_code, const DataResult&) { work(); }));
}

void ignore(const std::exception_ptr&) {}

struct Kind {
  std::string name;
  Start start;
};

const std::vector<Kind>& executors() {
  static const std::vector<Kind> all{
      {"no executor",
       [](const Client& client, Threads&, Work& work) {
         client.async_get_data("/", [&work](error_code, const DataResult&) { work(); });
       }},
      {"a thread_pool", [](const Client& c, Threads& threads, Work& w) { read_on(c, threads.pool.get_executor(), w); }},
      {"a thread_pool, erased",
       [](const Client& c, Threads& t, Work& w) { read_on(c, asio::any_io_executor{t.pool.get_executor()}, w); }},
      {"a strand of a pool",
       [](const Client& c, Threads& t, Work& w) { read_on(c, asio::make_strand(t.pool.get_executor()), w); }},
      {"an io_context", [](const Client& c, Threads& t, Work& w) { read_on(c, t.context.get_executor(), w); }},
      {"a strand of an io_context, erased",
       [](const Client& c, Threads& t, Work& w) {
         read_on(c, asio::any_io_executor{asio::make_strand(t.context.get_executor())}, w);
       }},
      {"the system_executor", [](const Client& c, Threads&, Work& w) { read_on(c, asio::system_executor{}, w); }},
      {"an executor of one's own", [](const Client& c, Threads&, Work& w) { read_on(c, Straight{}, w); }},
      {"use_future of a function",
       [](const Client& client, Threads&, Work& work) {
         static_cast<void>(client.async_get_data(
             "/", asio::use_future([&work](error_code, const DataResult&) { work(); })));  // the future does not wait
       }},
      {"a coroutine on a pool",
       [](const Client& c, Threads& t, Work& w) { asio::co_spawn(t.pool, read_and_work(c, w), ignore); }},
      {"a coroutine on an io_context",
       [](const Client& c, Threads& t, Work& w) { asio::co_spawn(t.context, read_and_work(c, w), ignore); }},
      {"a coroutine on the system_executor",
       [](const Client& c, Threads&, Work& w) {
         asio::co_spawn(asio::system_executor{}, read_and_work(c, w), ignore);
       }},
  };
  return all;
}

/// One operation for each way from a reply to a handler.
const std::vector<Kind>& operations() {
  static const std::vector<Kind> all{
      {"a request of a session",
       [](const Client& client, Threads& threads, Work& work) {
         client.session().async_sync("/", asio::bind_executor(threads.pool, [&work](error_code) { work(); }));
       }},
      {"waiting for the session",
       [](const Client& client, Threads& threads, Work& work) {
         client.async_session(asio::bind_executor(threads.pool, [&work](error_code, const Session&) { work(); }));
       }},
      {"a request that is refused",
       [](const Client& client, Threads& threads, Work& work) {
         client.session().async_sync("x", asio::bind_executor(threads.pool, [&work](error_code) { work(); }));
       }},
      {"a state",
       [](const Client& client, Threads& threads, Work& work) {
         auto states = std::make_shared<StateStream>(client.states());
         states->async_next(
             asio::bind_executor(threads.pool, [&work, states](error_code, ConnectionState) { work(); }));
       }},
      {"a watch",
       [](const Client& client, Threads& threads, Work& work) {
         const std::string path = fresh_path();
         auto [error, stat, watch] = outcome_of_operation<std::optional<Stat>, Watch>(
             [&](auto token) { client.session().async_exists_and_watch(path, std::move(token)); });
         REQUIRE_FALSE(error);
         auto kept = std::make_shared<Watch>(std::move(watch));
         kept->async_wait(asio::bind_executor(threads.pool, [&work, kept](error_code, WatchEvent) { work(); }));
         client.async_create(path, "", CreateOptions{CreateMode::persistent}.creating_parents(),
                             [](error_code, const CreateResult&) {});
       }},
      {"a lock that is acquired",
       [](const Client& client, Threads& threads, Work& work) {
         InterProcessMutex{client, fresh_path()}.async_acquire(
             asio::bind_executor(threads.pool, [&work](error_code, const Lease&) { work(); }));
       }},
      {"a lock that is released",
       [](const Client& client, Threads& threads, Work& work) {
         acquire(InterProcessMutex{client, fresh_path()})
             .async_release(asio::bind_executor(threads.pool, [&work](error_code) { work(); }));
       }},
  };
  return all;
}

/// A token that starts nothing: it returns the executor of the initiation, which Asio's cancel_after asks for (Boost
/// 1.86 and later).
struct AskExecutor {};

/// A client with a session of its own, and the handler that runs on it.
struct Case {
  Case(std::string n, Client c) : name{std::move(n)}, client{std::move(c)} {}
  std::string name;
  Client client;
  Session session{};
  Work work{};
  Pending<> meanwhile{};
};

}  // namespace

template <class Signature>
struct boost::asio::async_result<AskExecutor, Signature> {
  template <class Initiation, class... Args>
  static asio::any_io_executor initiate(Initiation&& initiation, AskExecutor, Args&&...) {
    if constexpr (requires { typename std::decay_t<Initiation>::executor_type; }) {
      return initiation.get_executor();
    } else {
      return {};
    }
  }
};

TEST_CASE("Asio's adapters find the callback executor as the executor of an operation") {
  const Client client = make_client(shared_server());
  const InterProcessMutex mutex{client, fresh_path()};
  CHECK(client.async_get_data("/", AskExecutor{}) == client.callback_executor());
  CHECK(mutex.async_acquire(AskExecutor{}) == client.callback_executor());
  CHECK(client.states().async_next(AskExecutor{}) == client.callback_executor());
}

TEST_CASE("a handler that runs for longer than the session timeout costs no session, on any executor") {
  testing::TestServer server{{.tick = short_timeout / 2}};
  Threads threads;
  std::list<Case> cases;
  const ClientConfig config{.connect_string = server.connect_string(), .session_timeout = short_timeout};
  const auto start = [&](const Kind& kind) {
    for (Case* each :
         {&cases.emplace_back(kind.name + ", a thread of the client's own", Client{config}),
          &cases.emplace_back(kind.name + ", a client on a pool", Client{threads.pool.get_executor(), config}),
          &cases.emplace_back(kind.name + ", a client on an io_context",
                              Client{threads.context.get_executor(), config})}) {
      each->session = connected_session(each->client);
      kind.start(each->client, threads, each->work);
    }
  };
  for (const auto* kinds : {&executors(), &operations()})
    for (const Kind& kind : *kinds) start(kind);
  for (Case& each : cases) {
    CAPTURE(each.name);
    REQUIRE(eventually([&] { return each.work.begun() == 1; }));
    // A request that is made while the handler runs is answered while it runs.
    each.session.async_sync("/", asio::bind_executor(each.client.get_executor(), each.meanwhile.handler()));
  }
  for (Case& each : cases) {
    CAPTURE(each.name);
    CHECK_FALSE(std::get<0>(each.meanwhile.get()));
    CHECK(eventually([&] { return each.work.done(); }));
    CHECK(each.work.begun() == 1);
    CHECK_FALSE(sync(each.session));
    CHECK(each.client.session() == each.session);
  }
}
