#include "overload.hpp"

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
#include <ctime>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace zklock::test {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr auto operation_timeout = 30s;
constexpr auto overload_session_timeout = 10s;

Milliseconds cpu_time_of_this_thread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

/// Measures how long a client's I/O thread works without a look at sockets and timers. A timer there ticks every 2 ms.
/// The processor time that the thread has used between two ticks it has used without a pause, except for those 2 ms.
/// Other processes do not count.
class BusyWatch : public std::enable_shared_from_this<BusyWatch> {
 public:
  explicit BusyWatch(const Client& client) : timer_{client.get_executor()} {}

  void start() {
    asio::post(timer_.get_executor(), [self = shared_from_this()] {
      self->last_ = cpu_time_of_this_thread();
      self->tick();
    });
  }
  void stop() { stopped_ = true; }
  /// The longest time since the call before, in milliseconds.
  [[nodiscard]] double take_longest() { return longest_.exchange(0); }

 private:
  void tick() {
    timer_.expires_after(2ms);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (error || self->stopped_) return;
      const Milliseconds now = cpu_time_of_this_thread();
      if (const double busy = (now - self->last_).count(); busy > self->longest_) self->longest_ = busy;
      self->last_ = now;
      self->tick();
    });
  }

  Timer timer_;
  Milliseconds last_{};
  std::atomic<double> longest_{0};
  std::atomic<bool> stopped_{false};
};

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

/// A virtual processor that its host stops seems to be busy. That happens now and then, what zklock does at each cut.
bool is_often_above(double bound, const std::vector<double>& values) {
  return 4 * std::ranges::count_if(values, [&](double value) { return value > bound; }) > std::ssize(values);
}

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
  const auto watch = std::make_shared<BusyWatch>(client);
  watch->start();
  Crowd crowd{client, options.in_flight};
  crowd.start();
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>{std::chrono::steady_clock::now() - start}.count(); };
  std::vector<double> busy;  // the longest time before each cut
  for (double next_cut = options.cut_every / 2.0; elapsed() < options.seconds; next_cut += options.cut_every) {
    static_cast<void>(eventually([&] { return elapsed() >= std::min<double>(next_cut, options.seconds); }, 1h));
    if (elapsed() >= options.seconds) break;
    proxy.cut();
    busy.push_back(watch->take_longest());
    std::printf("%6.1f s  %lld ended, %zu in flight, the I/O thread busy for %.1f ms at most\n", elapsed(),
                static_cast<long long>(crowd.ended()), crowd.in_flight(), busy.back());
    std::fflush(stdout);
  }
  crowd.stop();
  const bool all_ended = eventually([&] { return crowd.in_flight() == 0; }, operation_timeout + 10s + slack);
  const bool lives = client.wait_connected(20s) && client.session().id() == id;
  watch->stop();
  busy.push_back(watch->take_longest());
  std::printf("%lld operations, %zu cuts: %s\nthe slowest took %.1f s; the I/O thread was busy for %.1f ms at most\n",
              static_cast<long long>(crowd.ended()), busy.size() - 1, crowd.outcomes().c_str(), crowd.slowest().count(),
              *std::ranges::max_element(busy));
  const std::chrono::duration<double> latest = operation_timeout + 1s + slack;
  bool fine = holds(all_ended, "operations that have not ended");
  fine = holds(crowd.slowest() < latest, "an operation ended after its deadline") && fine;
  fine = holds(!is_often_above(options.max_busy, busy), "the I/O thread was busy for too long") && fine;
  fine = holds(lives, "the session was lost") && fine;
  std::printf("overload: %s\n", fine ? "all well" : "failed");
  return fine;
}

}  // namespace zklock::test
