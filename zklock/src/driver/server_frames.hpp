// Judges what a server sends before the C client reads it.
#pragma once

#include <zklock/clock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace zklock {

enum class Operation;

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
/// What a reply has behind its header, if it is no error.
enum class ReplyForm { nothing, stat, path_and_stat, data_and_stat, list_and_stat, transaction };

/// The first bytes of any later frame. `due`: the form of the next reply; empty: no request is without a reply. The C
/// client frees what it has not read of a reply that is too short.
[[nodiscard]] FrameJudgement judge_frame(std::span<const unsigned char> bytes, std::optional<ReplyForm> due) noexcept;
/// The whole reply to a transaction of these parts: the C client aborts where it has other parts.
[[nodiscard]] FrameJudgement judge_transaction(std::span<const unsigned char> bytes,
                                               std::span<const Operation> parts) noexcept;
/// Of a frame that judge_frame() has let pass: whether it is a reply, and no error.
[[nodiscard]] bool is_success(std::span<const unsigned char> bytes) noexcept;
inline constexpr std::size_t largest_judged_frame = 1 << 20;
/// The size of the frame that begins with these bytes.
[[nodiscard]] std::size_t size_of_frame(std::span<const unsigned char> bytes) noexcept;
[[nodiscard]] ReplyForm form_of(Operation operation) noexcept;

/// So many bytes are enough for the beginning of either.
inline constexpr std::size_t judged_bytes = 41;

}  // namespace zklock
