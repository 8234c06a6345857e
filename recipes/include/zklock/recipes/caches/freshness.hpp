// How current a followed part of the tree is.
#pragma once

#include <zklock/clock.hpp>

#include <string_view>

namespace zklock {

/// Threads: a value.
struct Freshness {
  enum class State {
    loading,  ///< not everything has been read yet
    live,     ///< up to date: a change is shown as soon as the servers tell of it
    stale,    ///< the link is lost, or not everything that changed meanwhile has been read yet, or can be read
    gone      ///< the client is closed, or its credentials were refused: nothing more will be shown
  };

  State state = State::loading;
  Clock::time_point since{};  ///< when this state began

  friend bool operator==(const Freshness&, const Freshness&) = default;
};

[[nodiscard]] constexpr std::string_view to_string(Freshness::State state) noexcept {
  switch (state) {
    case Freshness::State::loading: return "loading";
    case Freshness::State::live: return "live";
    case Freshness::State::stale: return "stale";
    case Freshness::State::gone: return "gone";
  }
  return "unknown";
}

namespace detail {

/// What knows how fresh it is. Threads: any.
class FreshnessSource {
 public:
  virtual ~FreshnessSource() = default;
  [[nodiscard]] virtual Freshness freshness() const = 0;
};

}  // namespace detail
}  // namespace zklock
