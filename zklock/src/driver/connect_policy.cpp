#include "connect_policy.hpp"

#include <algorithm>
#include <utility>

namespace zklock {

using namespace std::chrono_literals;

namespace {

constexpr Clock::duration shortest_wait = 1ms;
constexpr Clock::duration first_back_off = 20ms;

/// Between `least` and `most`.
Clock::duration drawn(Clock::duration least, Clock::duration most, std::uint64_t random) {
  return least + Clock::duration{random % (static_cast<std::uint64_t>((most - least).count()) + 1)};
}

}  // namespace

std::vector<std::string> odd_list(std::vector<std::string> servers, std::uint64_t random) {
  if (!servers.empty() && servers.size() % 2 == 0) servers.push_back(servers[random % servers.size()]);
  return servers;
}

Clock::duration wait_to_connect(int failures, Clock::duration jitter, Clock::duration session_timeout,
                                std::uint64_t random) {
  if (failures <= 1)
    return drawn(shortest_wait, std::clamp(jitter, shortest_wait, std::max(session_timeout / 4, shortest_wait)),
                 random);
  const Clock::duration longest = std::max(session_timeout / 10, first_back_off);
  const Clock::duration wait = std::min(first_back_off * (1 << std::min(failures - 2, 10)), longest);
  return drawn(wait / 2, wait, random);
}

Clock::duration HandshakeLimit::limit(Clock::duration session_timeout, std::size_t addresses) const noexcept {
  const auto first = session_timeout / static_cast<Clock::rep>(2 * std::max<std::size_t>(addresses, 1));
  const Clock::duration longest = session_timeout * 2 / 3;
  return std::min(first * (1 << std::min(rounds_too_slow_, 10)), longest);
}

void HandshakeLimit::on_failure(Failure failure, std::size_t addresses) noexcept {
  overdue_ |= failure == Failure::overdue;
  if (++tried_ < addresses) return;
  if (std::exchange(overdue_, false)) ++rounds_too_slow_;
  tried_ = 0;
}

ConnectAttempts::ConnectAttempts(Clock::duration jitter, std::shared_ptr<ConnectHistory> history,
                                 Clock::duration session_timeout, Clock::time_point now, std::uint64_t (*random)())
    : jitter_{jitter}, history_{history ? std::move(history) : std::make_shared<ConnectHistory>()} {
  if (history_->failures > 0)
    not_before_ = now + wait_to_connect(history_->failures, jitter, session_timeout, random());
}

void ConnectAttempts::on_answer() noexcept {
  history_->failures = 0;
  history_->of_use = true;
  not_before_ = {};
  handshake_.on_answer();
}

/// The session after one that was of use is made at once.
void ConnectAttempts::on_session_over() noexcept {
  is_over_ = true;
  history_->failures = std::exchange(history_->of_use, false) ? 0 : history_->failures + 1;
}

void ConnectAttempts::part() {
  auto own = std::make_shared<ConnectHistory>(*history_);
  if (!is_over_) on_session_over();
  history_ = std::move(own);
}

void ConnectAttempts::on_failure(Failure failure, std::size_t addresses, Clock::duration session_timeout,
                                 Clock::time_point now, std::uint64_t random) noexcept {
  handshake_.on_failure(failure, addresses);
  not_before_ =
      now + wait_to_connect(++history_->failures, hurries_ ? 0ms : jitter_, time_to_connect(session_timeout), random);
}

void ConnectAttempts::hurry(Clock::time_point now) noexcept {
  hurries_ = true;
  history_->failures = 0;
  not_before_ = now;
}

Clock::time_point ConnectAttempts::overdue_at(Clock::duration session_timeout, std::size_t addresses) const noexcept {
  return since_ + handshake_.limit(time_to_connect(session_timeout), addresses);
}

/// The time of which the pauses and the limit of an attempt are fractions.
Clock::duration ConnectAttempts::time_to_connect(Clock::duration session_timeout) const noexcept {
  return hurries_ ? std::min<Clock::duration>(session_timeout, close_limit) : session_timeout;
}

}  // namespace zklock
