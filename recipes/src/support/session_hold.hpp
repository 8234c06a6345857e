// What stands as long as a session does.
#pragma once

#include <zklock/clock.hpp>
#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/session.hpp>
#include <zklock/session_renewal.hpp>

#include <atomic>
#include <memory>
#include <optional>

namespace zklock::detail {

/// Something of the client's that goes with its session, such as an ephemeral node. Session validity is kept ahead until
/// it is given up.
///
/// Threads: the functions marked so, any; the others on the session's executor.
class SessionHold : public std::enable_shared_from_this<SessionHold>, public LapseListener {
 public:
  [[nodiscard]] static std::shared_ptr<SessionHold> begin(Session session);
  explicit SessionHold(Session session);

  // any thread
  [[nodiscard]] const Session& session() const noexcept { return session_; }
  /// Until then it stands for certain; time_point{} once it is lost or given up.
  [[nodiscard]] Clock::time_point valid_until() const noexcept;
  /// The session is over, or its validity has passed. Once true, it stays true.
  [[nodiscard]] bool is_lost() const noexcept;

  /// It ends by the client's own will, or by something else than the session. Only the first call has an effect.
  void give_up();
  void lose();
  /// Waits until it is lost: no error; operation_aborted if it is given up, or the caller is cancelled.
  [[nodiscard]] static Awaitable<error_code> wait_lost(std::shared_ptr<SessionHold> hold);

 private:
  void on_lapse() override { changed_.happen(); }

  Session session_;
  std::optional<SessionRenewal> renewal_;
  AsyncEvent changed_;
  mutable std::atomic<bool> lost_{false};
  std::atomic<bool> given_up_{false};
};

}  // namespace zklock::detail
