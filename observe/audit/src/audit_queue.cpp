#include "audit_queue.hpp"

#include <algorithm>
#include <utility>

namespace zklock::detail {

namespace {

constexpr std::size_t max_batch = 256;  // room comes back after so many

}  // namespace

std::size_t AuditQueue::wait() {
  std::unique_lock lock{mutex_};
  if (round_ == 0) {
    arrived_.wait(lock, [this] { return closed_ || count_ > 0; });
    arrived_.wait_for(lock, period_, [this] { return closed_ || is_urgent_ || count_ >= half(); });
    is_urgent_ = false;
    round_ = count_;
  }
  return std::min(round_, max_batch);
}

void AuditQueue::pop(std::size_t batch, std::size_t failed, std::uint64_t untold) {
  const std::lock_guard lock{mutex_};
  first_ = (first_ + batch) % slots_.size();
  count_ -= batch;
  round_ -= batch;
  written_ += batch - failed;
  dropped_ += failed;
  unreported_ += failed + untold;
  // Once a sink takes records again: one that fails would be told of its own failures for ever.
  const bool is_futile = failed == batch || (closed_ && failed > 0);
  if (unreported_ > 0 && !is_futile) {
    const std::uint64_t number = std::exchange(unreported_, 0);
    add([number](AuditRecord& record) { record.assign_dropped(number); });
  }
}

void AuditQueue::close() {
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
  }
  arrived_.notify_one();
}

std::uint64_t AuditQueue::written() const {
  const std::lock_guard lock{mutex_};
  return written_;
}

std::uint64_t AuditQueue::dropped() const {
  const std::lock_guard lock{mutex_};
  return dropped_;
}

}  // namespace zklock::detail
