// Ids of 64 bits that grow with time, and of which no two are the same in all processes: Snowflake ids. Making one asks
// no server.
//
// Prints "40000 ids, all different", "the next process goes on: yes".
#include "support/ensemble.hpp"

#include <zklock/recipes/worker_ids/worker_ids.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

using namespace std::chrono_literals;

/// 41 bits of milliseconds, 10 bits of the worker's number, 12 bits that count within the millisecond. For one thread.
class Snowflake {
 public:
  explicit Snowflake(zklock::WorkerId worker) : worker_{std::move(worker)} {}

  std::int64_t next() {
    for (;; std::this_thread::sleep_for(100us)) {
      const auto stamp = worker_.try_time_stamp();
      if (!stamp && !worker_.is_held()) throw std::runtime_error{"the worker id is lost: acquire another one"};
      if (!stamp) continue;  // the clock has been set
      if (*stamp != last_) sequence_ = 0;
      last_ = *stamp;
      if (sequence_ == 4'096) continue;  // until the next millisecond
      return (last_ - epoch).count() << 22 | std::int64_t{worker_.number()} << 12 | sequence_++;
    }
  }

 private:
  static constexpr zklock::WorkerId::TimeStamp epoch{1'700'000'000'000ms};

  zklock::WorkerId worker_;
  zklock::WorkerId::TimeStamp last_{};
  std::int64_t sequence_ = 0;
};

int main() try {
  const example::Ensemble ensemble;
  const zklock::Client client{{.connect_string = ensemble.connect_string()}};
  const zklock::Client other{{.connect_string = ensemble.connect_string()}};
  const zklock::WorkerIds workers{client, "/examples/workers"};  // 1,024 numbers, as 10 bits have
  Snowflake one{workers.acquire()};
  Snowflake two{zklock::WorkerIds{other, "/examples/workers"}.acquire()};

  std::set<std::int64_t> all;
  for (int i = 0; i < 20'000; ++i) {
    all.insert(one.next());
    all.insert(two.next());
  }
  std::cout << all.size() << " ids, all different\n";

  // With a single number: the next process gets it as soon as it is released, and later time stamps.
  const zklock::WorkerIds single{client, "/examples/worker", {.count = 1}};
  zklock::WorkerId first = single.acquire();
  const auto last = first.try_time_stamp();
  first.release();
  const zklock::WorkerId second = single.acquire();
  auto next = second.try_time_stamp();
  while (!next && second.is_held()) next = second.try_time_stamp();
  std::cout << "the next process goes on: " << (next > last ? "yes" : "no") << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
