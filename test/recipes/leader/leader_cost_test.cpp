// What a leadership costs the servers when there are many candidates.
#include "support/catch.hpp"
#include "support/exploration.hpp"

#include <zklock/recipes/leader/leader_latch.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::testing;
using namespace std::chrono_literals;

namespace {

const std::string path = "/leader/orders";
constexpr int candidates = 100;
constexpr int resignations = 1'000;

using Names = std::vector<std::string>;

/// What each session asks for, until it is taken.
class Requests {
 public:
  explicit Requests(FakeEnsemble& ensemble) : ensemble_{ensemble} {
    ensemble.on_call([asked = asked_](const FakeCall& call) {
      const bool counts = call.operation != "connect" && call.operation != "sync";  // a leader keeps its session proven
      if (!call.applied && counts) (*asked)[call.session].emplace_back(call.operation);
      return FakeFault::none;
    });
  }
  ~Requests() { ensemble_.on_call({}); }
  Requests(const Requests&) = delete;
  [[nodiscard]] Names take(const Client& client) const { return std::exchange((*asked_)[client.session().id()], {}); }

 private:
  FakeEnsemble& ensemble_;
  std::shared_ptr<std::map<std::int64_t, Names>> asked_ = std::make_shared<std::map<std::int64_t, Names>>();
};

struct Books {
  int led = 0;
  std::int64_t newest = 0;
  bool in_order = true;
  std::map<Names, int> asked{};  ///< from one grant of a candidate to its next
};

asio::awaitable<void> stand(const Client& client, const Requests& requests, Books& books) {
  const LeaderLatch latch{client, path, "x"};
  while (books.led < resignations) {
    Leadership leadership = co_await latch.async_lead();
    ++books.asked[requests.take(client)];
    books.in_order = books.in_order && leadership.is_held() && leadership.fencing_token() > books.newest;
    books.newest = leadership.fencing_token();
    if (++books.led == 1) co_await test::pause(1s);  // all stand
    co_await test::pause(20ms);                      // the candidate before stands again
    co_await leadership.async_resign();
  }
}

}  // namespace

TEST_CASE("of 100 candidates each resignation wakes one, which lists once before it leads, and nothing is left") {
  Simulation simulation{1, {.latency = 1ms}};
  const Requests requests{simulation.ensemble()};
  Books books;
  std::uint64_t events = 0;
  simulation.actor([&]() -> asio::awaitable<void> {
    const Client& first = simulation.client("0", {.session_timeout = 10s});
    co_await first.async_create(path, "", CreateOptions{}.creating_parents());
    static_cast<void>(requests.take(first));
    events = simulation.ensemble().counters().watch_events;
    for (int n = 0; n < candidates; ++n) {
      const Client& client = simulation.client(std::to_string(n), {.session_timeout = 10s});
      simulation.actor([&]() { return stand(client, requests, books); });
    }
  });
  simulation.run();
  INFO((simulation.failures().empty() ? std::string{} : simulation.failures().front()));
  CHECK(simulation.failures().empty());
  CHECK(books.in_order);
  CHECK(books.led >= resignations);
  CHECK(simulation.ensemble().counters().watch_events - events == static_cast<std::uint64_t>(books.led - 1));
  for (const FakeNode& node : simulation.ensemble().nodes()) CHECK_FALSE(node.path.starts_with(path + "/"));
  CHECK(simulation.ensemble().watches().empty());
  // From one grant to the next. The candidate was not the second when it came, so it lists again when it is woken.
  const Names usual{"remove", "create", "get_children", "get_children", "get_children"};
  for (const auto& [asked, times] : books.asked) {
    std::string all;
    for (const std::string& each : asked) all += each + " ";
    INFO(all << times << " times");
    CHECK((asked == usual || times <= candidates));
    CHECK(asked.size() <= usual.size() + 1);  // the first time it looks at the directory
  }
}
