#include "overload.hpp"

#include "busy_watch.hpp"
#include "support/await.hpp"
#include "support/fixture.hpp"
#include "support/frame_proxy.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace zklock::test {
namespace {

constexpr auto operation_timeout = 30s;
constexpr auto overload_session_timeout = 10s;

/// Keeps that many operations in flight: each that ends is followed by another. Their handlers run on an own thread.
class Crowd {
 public:
  Crowd(const Client& client, std::size_t size) : client_{client}, size_{size} {}
  ~Crowd() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }
  Crowd(const Crowd&) = delete;

  void start() {
    asio::post(context_, [this] { launch_some(0); });
    thread_ = std::thread{[this] { context_.run(); }};
  }
  void stop() { stopping_ = true; }
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }
  [[nodiscard]] std::int64_t ended() const noexcept { return ended_; }
  [[nodiscard]] std::chrono::duration<double> slowest() const {
    const std::lock_guard lock{mutex_};
    return slowest_;
  }
  /// The operations without an error.
  [[nodiscard]] std::int64_t succeeded() const {
    const std::lock_guard lock{mutex_};
    const auto found = outcomes_.find(error_code{});
    return found == outcomes_.end() ? 0 : found->second;
  }
  [[nodiscard]] std::string outcomes() const {
    const std::lock_guard lock{mutex_};
    std::string text;
    for (const auto& [error, count] : outcomes_)
      text += (text.empty() ? "" : "; ") + std::to_string(count) + " " + (error ? error.message() : "without an error");
    return text;
  }

 private:
  /// Launches operations in portions: this thread has handlers to run, too.
  void launch_some(std::size_t launched) {
    for (int i = 0; i < 1'000 && launched < size_; ++i, ++launched) launch();
    if (launched < size_) asio::post(context_, [this, launched] { launch_some(launched); });
  }

  void launch() {
    ++in_flight_;
    const auto start = Clock::now();
    const auto done = [this, start](error_code error, const auto&...) { on_end(error, Clock::now() - start); };
    auto token = asio::bind_executor(context_, done);
    switch (next_++ % 4) {
      case 0: return client_.async_get_data("/", std::move(token));
      case 1: return client_.async_exists("/nothing", std::move(token));
      case 2: return client_.async_get_children("/", std::move(token));
      default: return client_.async_set_data("/load", "x", std::move(token));
    }
  }

  void on_end(error_code error, Clock::duration took) {
    --in_flight_;
    ++ended_;
    {
      const std::lock_guard lock{mutex_};
      ++outcomes_[error];
      slowest_ = std::max<std::chrono::duration<double>>(slowest_, took);
    }
    if (!stopping_) launch();
  }

  const Client& client_;
  std::size_t size_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::size_t> in_flight_{0};
  std::atomic<std::int64_t> ended_{0};
  std::uint64_t next_ = 0;
  mutable std::mutex mutex_;
  std::map<error_code, std::int64_t> outcomes_;
  std::chrono::duration<double> slowest_{};
};

bool holds(bool condition, const char* otherwise) {
  if (!condition) std::printf("failed: %s\n", otherwise);
  return condition;
}

}  // namespace

bool run_overload(const OverloadOptions& options) {
  testing::TestServer server;
  FrameProxy proxy{server.port()};
  const Client client{{.connect_string = proxy.address(),
                       .session_timeout = overload_session_timeout,
                       .operation_timeout = operation_timeout,
                       .retry = RetryForever{10ms},
                       .max_retries_per_second = 50'000,
                       .max_outstanding = options.in_flight + 1}};
  const std::int64_t id = connected_session(client).id();
  static_cast<void>(outcome_of_operation<CreateResult>(
      [&](auto token) { client.async_create("/load", "", CreateOptions{}, std::move(token)); }));
  BusyWatch watch{client};
  Crowd crowd{client, options.in_flight};
  crowd.start();
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>{std::chrono::steady_clock::now() - start}.count(); };
  int cuts = 0;
  std::vector<Milliseconds> busy_times;  // the longest before each cut, and after the last
  for (double next_cut = options.cut_every / 2.0; elapsed() < options.seconds; next_cut += options.cut_every) {
    static_cast<void>(eventually([&] { return elapsed() >= std::min<double>(next_cut, options.seconds); }, 1h));
    if (elapsed() >= options.seconds) break;
    proxy.cut();
    ++cuts;
    const Milliseconds busy = busy_times.emplace_back(watch.take_longest());
    std::printf("%6.1f s  %lld ended, %zu in flight, the I/O thread busy for %.1f ms at most\n", elapsed(),
                static_cast<long long>(crowd.ended()), crowd.in_flight(), busy.count());
    std::fflush(stdout);
  }
  crowd.stop();
  const bool all_ended = eventually([&] { return crowd.in_flight() == 0; }, operation_timeout + 60s);
  const bool lives = client.wait_connected(20s) && client.session().id() == id;
  busy_times.push_back(watch.take_longest());
  std::ranges::sort(busy_times, std::greater{});
  // What the load does it does after each cut. One time alone may be the machine's, of which not each stop can be seen.
  constexpr int longer_once = 5;
  const Milliseconds second_busiest = busy_times[std::min<std::size_t>(1, busy_times.size() - 1)];
  const double success = 100. * static_cast<double>(crowd.succeeded()) / static_cast<double>(crowd.ended());
  std::printf(
      "%lld operations, %d cuts, %.1f %% without an error: %s\nthe slowest took %.1f s; the I/O thread was busy for "
      "%.1f ms at most, and for %.1f ms in the second worst time between two cuts\n",
      static_cast<long long>(crowd.ended()), cuts, success, crowd.outcomes().c_str(), crowd.slowest().count(),
      busy_times.front().count(), second_busiest.count());
  const std::chrono::duration<double> latest = operation_timeout + 10s;
  bool fine = holds(all_ended, "operations that have not ended");
  fine = holds(crowd.slowest() < latest, "an operation ended after its deadline") && fine;
  fine = holds(success >= options.min_success, "too few operations succeeded") && fine;
  fine =
      holds(second_busiest.count() <= options.max_busy && busy_times.front().count() <= longer_once * options.max_busy,
            "the I/O thread was busy for too long") &&
      fine;
  fine = holds(lives, "the session was lost") && fine;
  std::printf("overload: %s\n", fine ? "all well" : "failed");
  return fine;
}

}  // namespace zklock::test
