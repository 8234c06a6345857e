// Creates whose replies were lost: the servers may carry them out yet.
#pragma once

#include <zklock/clock.hpp>

#include <optional>
#include <string>
#include <utility>

namespace zklock {

/// The creates of one node on one session. Pure: no requests, no time of its own.
///
/// Threads: one at a time.
class CreateDoubt {
 public:
  /// A create with these data was sent, and its reply is lost. It is carried out by then, or never will be.
  void lost(std::string data, Clock::time_point latest) {
    ++lost_;
    data_ = std::move(data);
    latest_ = latest;
  }
  /// A later one has made the node: so the lost one has not, up to then.
  void made() noexcept { is_made_ = true; }
  /// There is no node any more.
  void deleted() noexcept { is_made_ = false; }
  /// The session has a node there. If no other create can have made it, the lost one has: no second node follows.
  void found() noexcept {
    if (lost_ == 1 && !is_made_) lost_ = 0;
  }

  /// The data of the node that may come late; empty: none may.
  [[nodiscard]] std::optional<std::string> at(Clock::time_point now) const {
    return lost_ > 0 && now < latest_ ? std::optional{data_} : std::nullopt;
  }

 private:
  int lost_ = 0;
  bool is_made_ = false;
  std::string data_;
  Clock::time_point latest_{};
};

}  // namespace zklock
