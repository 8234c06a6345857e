// Tells a client's observers of one guaranteed delete that takes more than one try.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/recipe_kit/observers.hpp>
#include <zklock/session.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace zklock::detail {

/// Pending from the first call of begin() until end(), or until it is destroyed. Costs nothing before begin().
///
/// Threads: the client's executor.
class CleanupTrace {
 public:
  CleanupTrace() noexcept = default;
  ~CleanupTrace();
  CleanupTrace(CleanupTrace&&) noexcept = default;
  CleanupTrace& operator=(CleanupTrace&&) = delete;

  /// `path` is the session's.
  void begin(const Session& session, const std::string& path);
  /// `path` is the server's.
  void begin(std::shared_ptr<const Observers<Observer>> observers, const std::string& client_id, std::string path);
  void end(error_code error);

 private:
  std::shared_ptr<const Observers<Observer>> observers_;
  std::string client_id_;
  std::string path_;
  std::uint64_t number_ = 0;
  Clock::time_point began_{};
};

}  // namespace zklock::detail
