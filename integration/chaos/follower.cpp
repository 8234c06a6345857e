#include "follower.hpp"

#include "round.hpp"

#include <chrono>

namespace zklock::chaos {

using namespace std::chrono_literals;

Follower::Follower(const Client& client, const Log& log, FollowerOptions options)
    : client_{client}, log_{log}, options_{options}, random_{options.seed + 3}, thread_{[this] { run(); }} {}

void Follower::end() {
  over_ = true;
  if (thread_.joinable()) thread_.join();
}

void Follower::run() {
  for (;;) {
    Round round{client_, log_, options_};
    const auto until = Clock::now() + 10s + std::chrono::milliseconds{random_() % 20'000};
    while (!over_ && Clock::now() < until) {
      round.look();
      if (random_() % 200 == 0) round.write();
    }
    const bool is_last = over_;
    if (is_last) round.note_end();
    round.close();
    if (is_last) return;
  }
}

}  // namespace zklock::chaos
