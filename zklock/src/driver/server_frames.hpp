// Judges what a server sends before the C client reads it.
#pragma once

#include <zklock/clock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace zklock {

/// The C client believes any 41 bytes to be a handshake, and aborts the process at a reply that nobody has asked for
/// [F129]. So it gets only what these functions let pass.
enum class FrameVerdict {
  pass,
  wait,   ///< there is too little to judge by
  refuse  ///< no ZooKeeper server sends this
};

struct FrameJudgement {
  FrameVerdict verdict;
  std::size_t bytes = 0;  ///< to wait for

  friend bool operator==(const FrameJudgement&, const FrameJudgement&) = default;
};

/// What a server says of a session. Session 0 means that there is none: credible only to a client that has named one.
[[nodiscard]] bool is_credible(std::int64_t session, std::chrono::milliseconds timeout, bool named_one) noexcept;

/// The first bytes of a connection: ConnectResponse of zookeeper.jute.
[[nodiscard]] FrameJudgement judge_handshake(std::span<const unsigned char> bytes, bool named_one) noexcept;
/// The first bytes of any later frame. `replies_due`: there is a request without a reply.
[[nodiscard]] FrameJudgement judge_frame(std::span<const unsigned char> bytes, bool replies_due) noexcept;

/// So many bytes are enough for either.
inline constexpr std::size_t judged_bytes = 41;

}  // namespace zklock
