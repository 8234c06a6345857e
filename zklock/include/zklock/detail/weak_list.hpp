// Those who listen, as long as they live.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace zklock::detail {

/// Weak pointers in the order in which they were added. Expired ones are removed when the list is twice as long as after
/// the last removal, so that adding n takes a time that grows with n: tens of thousands may listen at once.
template <class T>
class WeakList {
 public:
  void add(std::weak_ptr<T> one) {
    if (all_.size() >= next_sweep_) sweep();
    all_.push_back(std::move(one));
  }
  /// Removes the expired ones, and what memory they have kept.
  void sweep() {
    std::erase_if(all_, [](const auto& each) { return each.expired(); });
    next_sweep_ = 2 * all_.size() + 16;
  }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  [[nodiscard]] auto begin() const noexcept { return all_.begin(); }
  [[nodiscard]] auto end() const noexcept { return all_.end(); }

 private:
  std::vector<std::weak_ptr<T>> all_;
  std::size_t next_sweep_ = 16;
};

}  // namespace zklock::detail
