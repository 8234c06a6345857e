// What a program can hear of what it follows.
#pragma once

#include <zklock/error.hpp>
#include <zklock/recipes/caches/freshness.hpp>

#include <cstdint>
#include <string_view>

namespace zklock {

/// What is followed has another freshness. The first event of each object that follows goes from `loading` to
/// `loading`, the last one, which comes when the client's executor has carried the end out, to `gone`: the object is
/// destroyed, or its client has ended. The views live for the call.
struct FollowEvent {
  std::uint64_t number = 0;  ///< of the object that follows; unique in the process
  std::string_view client_id{};
  std::string_view path{};  ///< the first one, at the server
  Freshness::State before = Freshness::State::loading;
  Freshness::State state = Freshness::State::loading;
  /// Why it is not live, if a part cannot be followed (Error::too_many_watches, say), as far as that is known when the
  /// state changes; why it is gone, if it is not simply destroyed.
  error_code error{};
};

/// Hears of what a client follows: of each cache, watch of a node, group, and stream of a shared value. A program's
/// class derives from it and from Observer, and is passed once, by ClientConfig::observers. The rules for calls are
/// Observer's.
///
/// Threads: the client's executor, one call at a time.
class FollowObserver {
 public:
  virtual ~FollowObserver() = default;
  virtual void on_follow(const FollowEvent&) {}
};

}  // namespace zklock
