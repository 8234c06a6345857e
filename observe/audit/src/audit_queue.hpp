// The records that are to be written.
#pragma once

#include "audit_record.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

namespace zklock::detail {

enum class AuditUrgency : std::uint8_t {
  usual,  ///< to be written within the period
  at_once
};

/// A bounded queue with one reader. Each record has a number, also one that is dropped, so that a gap in the numbers of
/// what is written shows what was dropped. The reader takes rounds: all that has come in a period, in batches. Only the
/// first record of a round, an urgent one and the one that fills half of the queue wake the reader.
class AuditQueue {
 public:
  AuditQueue(std::size_t size, std::chrono::milliseconds period) : slots_(size), period_{period} {}

  /// Lets `fill` write to a record; drops it if there is no room, or if `fill` throws. Waits for nothing but other calls.
  template <class Fill>
  void push(AuditUrgency urgency, const Fill& fill) {
    {
      const std::lock_guard lock{mutex_};
      if (!add(fill)) return;
      is_urgent_ = is_urgent_ || urgency == AuditUrgency::at_once;
      if (count_ != 1 && count_ != half() && !is_urgent_) return;
    }
    arrived_.notify_one();
  }

  /// For the reader: waits, and gives the number of records to write next; 0: the queue is closed, and all is read.
  [[nodiscard]] std::size_t wait();
  /// The record at this place in the batch. It stays until pop().
  [[nodiscard]] const AuditRecord& at(std::size_t index) const { return slots_[(first_ + index) % slots_.size()]; }
  /// The batch is written, but for so many records; those among them that tell of dropped records told of `untold`.
  void pop(std::size_t batch, std::size_t failed, std::uint64_t untold);

  void close();
  [[nodiscard]] std::uint64_t written() const;
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  [[nodiscard]] std::size_t half() const noexcept { return (slots_.size() + 1) / 2; }

  /// False: there is no room.
  template <class Fill>
  bool add(const Fill& fill) {
    ++sequence_;
    if (count_ < slots_.size()) {
      try {
        AuditRecord& record = slots_[(first_ + count_) % slots_.size()];
        fill(record);
        record.time = std::chrono::system_clock::now();
        record.sequence = sequence_;
        ++count_;
        return true;
      } catch (const std::bad_alloc&) {
      }
    }
    ++dropped_;
    ++unreported_;
    return false;
  }

  std::vector<AuditRecord> slots_;  // a ring
  const std::chrono::milliseconds period_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::size_t first_ = 0;  // only the reader changes it
  std::size_t count_ = 0;
  std::size_t round_ = 0;  // how many of them belong to this round
  std::uint64_t sequence_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t unreported_ = 0;  // of those, how many no record tells of yet
  bool is_urgent_ = false;
  bool closed_ = false;
};

}  // namespace zklock::detail
