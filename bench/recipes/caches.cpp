#include "orders.hpp"
#include "usage.hpp"

#include <zklock/recipes/caches/curator_cache.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <future>
#include <iostream>
#include <stdexcept>

namespace zklock::bench {
namespace {

using namespace std::chrono_literals;

double milliseconds_since(std::int64_t began) { return static_cast<double>(now() - began) * 1e-6; }

/// The sum of all mzxids says which state of the tree it is.
bool shows(const CuratorCache& cache, std::size_t count, std::int64_t sum) {
  if (cache.size() != count) return false;
  const auto nodes = cache.snapshot();
  for (const auto& [path, node] : *nodes) sum -= node->stat.mzxid;
  return sum == 0;
}

struct Shown {
  std::string path;
  std::int64_t mzxid = 0;
  std::int64_t at = 0;
};

asio::awaitable<void> note_changes(CacheEvents events, std::vector<Shown>& shown) {
  for (;;) {
    const auto [error, event] = co_await events.async_next(asio::as_tuple(asio::deferred));
    if (error) co_return;
    if (event.type == CacheEvent::Type::changed) shown.push_back({event.path, event.now->stat.mzxid, now()});
  }
}

class Caches {
 public:
  explicit Caches(const Task& task) : task_{task} {}
  ~Caches() { close(); }

  std::string open() {
    clients_.connect(task_, task_.clients);
    const double allocated_before = allocated();
    const double cpu_before = cpu_seconds();
    const std::int64_t began = now();
    for (Client& client : clients_.all()) caches_.emplace_back(client, task_.path);
    for (const CuratorCache& cache : caches_) cache.wait_initialized();
    const double initialized = milliseconds_since(began);
    const double cpu = cpu_seconds() - cpu_before;
    wait([](const CuratorCache& cache) { return cache.freshness().state == Freshness::State::live; });
    const double live = milliseconds_since(began);
    std::ostringstream line;
    line << R"({"initialized_ms": )" << initialized << R"(, "live_ms": )" << live << R"(, "cpu_ms": )" << cpu * 1e3
         << R"(, "bytes": )" << (allocated() - allocated_before) / static_cast<double>(nodes()) << "}";
    return line.str();
  }

  /// Waits until each cache shows the tree of so many nodes and this sum.
  std::string await(std::istringstream& words) {
    std::size_t count = 0;
    std::int64_t sum = 0;
    words >> count >> sum;
    const std::int64_t began = now();
    wait([&](const CuratorCache& cache) { return shows(cache, count, sum); });
    return R"({"right_ms": )" + std::to_string(milliseconds_since(began)) + "}";
  }

  /// What the first cache shows until it is as the next line of the input says.
  std::string follow() {
    CacheEvents events = caches_.front().events();
    while (events.next().type != CacheEvent::Type::live) continue;
    std::vector<Shown> shown;
    asio::cancellation_signal stop;
    auto noting = asio::co_spawn(clients_.context(), note_changes(std::move(events), shown),
                                 asio::bind_cancellation_slot(stop.slot(), asio::use_future));
    say("begin");
    const double cpu_before = cpu_seconds();
    std::string line_of_input;
    std::getline(std::cin, line_of_input);
    std::istringstream words{line_of_input};
    await(words);
    std::this_thread::sleep_for(50ms);  // what is shown is told a moment later
    const double cpu = cpu_seconds() - cpu_before;
    say("end");
    asio::post(clients_.context(), [&stop] { stop.emit(asio::cancellation_type::terminal); });
    noting.get();
    std::ostringstream line;
    line << R"({"cpu_seconds": )" << cpu << R"(, "shown": [)";
    for (const char* separator = ""; const Shown& each : shown) {
      line << separator << "[\"" << each.path << "\", " << each.mzxid << ", " << each.at << ']';
      separator = ", ";
    }
    line << "]}";
    return line.str();
  }

  std::string close() {
    clients_.close();  // first: the caches would take their watches back one by one
    caches_.clear();
    return "{}";
  }

 private:
  template <class Condition>
  void wait(Condition condition) const {
    const auto latest = std::chrono::steady_clock::now() + 50s;
    for (const CuratorCache& cache : caches_) {
      while (!condition(cache)) {
        if (std::chrono::steady_clock::now() > latest) throw std::runtime_error{"a cache is not right in time"};
        std::this_thread::sleep_for(2ms);
      }
    }
  }
  [[nodiscard]] std::size_t nodes() const {
    std::size_t sum = 0;
    for (const CuratorCache& cache : caches_) sum += cache.size();
    return sum;
  }

  Task task_;
  Clients clients_;
  std::deque<CuratorCache> caches_;
};

}  // namespace

void caches(const Task& task) {
  Caches all{task};
  obey({{"open", [&](std::istringstream&) { return all.open(); }},
        {"await", [&](std::istringstream& words) { return all.await(words); }},
        {"follow", [&](std::istringstream&) { return all.follow(); }},
        {"close", [&](std::istringstream&) { return all.close(); }}});
}

}  // namespace zklock::bench
