#include "busy_watch.hpp"

#include "support/processor.hpp"

#include <zklock/timer.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

#include <poll.h>
#include <pthread.h>
#include <sched.h>

namespace zklock::test {
namespace {

using namespace std::chrono_literals;

constexpr auto nap = 2ms;
constexpr auto punctual = 10ms;          // late by less is no stall
constexpr Milliseconds worth_noting{5};  // of a busy time

std::vector<int> processors() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  std::vector<int> result;
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return result;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &usable)) result.push_back(i);
  return result;
}

Clock::duration common_part(const Interval& one, const Interval& other) {
  return std::max(std::min(one.to, other.to) - std::max(one.from, other.from), Clock::duration::zero());
}

}  // namespace

Milliseconds own_work(const BusyTime& busy, const std::vector<std::vector<Interval>>& stalls) {
  Clock::duration longest{};
  for (const auto& of_processor : stalls) {
    Clock::duration sum{};
    for (const Interval& stall : of_processor) sum += common_part(stall, busy.when);
    longest = std::max(longest, sum);
  }
  return std::max(busy.used - Milliseconds{longest}, Milliseconds::zero());
}

StallWatch::StallWatch() {
  const std::vector<int> usable = processors();
  stalls_.resize(usable.size());
  for (std::size_t i = 0; i < usable.size(); ++i)
    threads_.emplace_back([this, i, processor = usable[i]] { sleep_on(i, processor); });
}

StallWatch::~StallWatch() {
  over_ = true;
  for (std::thread& thread : threads_) thread.join();
}

std::vector<std::vector<Interval>> StallWatch::stalls() const {
  const std::lock_guard lock{mutex_};
  return stalls_;
}

void StallWatch::sleep_on(std::size_t number, int processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(processor), &only);
  ::pthread_setaffinity_np(::pthread_self(), sizeof only, &only);
  const sched_param least_of_real_time{.sched_priority = 1};
  const bool waits_for_none = ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &least_of_real_time) == 0;
  const auto waited_so_far = [&] { return waits_for_none ? std::chrono::nanoseconds{0} : time_without_processor(); };
  while (!over_) {
    const auto waited = waited_so_far();
    const auto due = Clock::now() + nap;
    ::poll(nullptr, 0, static_cast<int>(nap.count()));
    const auto overslept = Clock::now() - due;
    if (overslept <= punctual) continue;
    const auto stall = overslept - (waited_so_far() - waited);  // other threads' work is no stall
    if (stall <= punctual) continue;
    const std::lock_guard lock{mutex_};
    stalls_[number].push_back({due, due + stall});
  }
}

struct BusyWatch::Ticks : std::enable_shared_from_this<Ticks> {
  explicit Ticks(const Client& client) : timer{client.get_executor()} {}

  void begin() {
    last = {Clock::now(), processor_time_of_this_thread()};
    tick();
  }
  void tick() {
    timer.expires_after(nap);
    timer.async_wait([self = shared_from_this()](error_code error) {
      if (error || self->stopped) return;
      const std::pair now{Clock::now(), processor_time_of_this_thread()};
      const auto [before, used_before] = std::exchange(self->last, now);
      if (const Milliseconds used = now.second - used_before; used > worth_noting) {
        const std::lock_guard lock{self->mutex};
        self->busy.push_back({{before, now.first}, used});
      }
      self->tick();
    });
  }

  Timer timer;
  std::pair<Clock::time_point, Milliseconds> last;
  std::mutex mutex;
  std::vector<BusyTime> busy;
  std::atomic<bool> stopped{false};
};

BusyWatch::BusyWatch(const Client& client) : ticks_{std::make_shared<Ticks>(client)} {
  asio::post(client.get_executor(), [ticks = ticks_] { ticks->begin(); });
}

BusyWatch::~BusyWatch() { ticks_->stopped = true; }

Milliseconds BusyWatch::take_longest() {
  std::vector<BusyTime> busy;
  {
    const std::lock_guard lock{ticks_->mutex};
    busy.swap(ticks_->busy);
  }
  const auto stalls = stall_watch_.stalls();
  Milliseconds longest{};
  for (const BusyTime& each : busy) longest = std::max(longest, own_work(each, stalls));
  return longest;
}

}  // namespace zklock::test
