// Tells a client's observers of one request.
#pragma once

#include "session_core.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace zklock::detail {

/// Does nothing until begin() was called. Threads: the serial executor.
class RequestTrace {
 public:
  /// What of a reply its decoder takes away.
  struct Content {
    std::size_t bytes = 0;
    std::size_t children = 0;
  };

  [[nodiscard]] bool has_begun() const noexcept { return number_ != 0; }
  void begin(const SessionCore& session, const Request& request);
  [[nodiscard]] static Content content_of(const Reply& reply) noexcept;
  void end(const SessionCore& session, const RequestName& about, const Reply& reply, Content content, bool sets_watch);

 private:
  std::uint64_t number_ = 0;
  Clock::time_point began_{};
  std::size_t sent_ = 0;
};

}  // namespace zklock::detail
