#include "server_frames.hpp"

namespace zklock {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t prefix = 4;  // a frame's length, which does not count itself

std::int32_t number_at(std::span<const unsigned char> bytes, std::size_t place) noexcept {
  std::uint32_t number = 0;
  for (std::size_t i = place; i < place + 4; ++i) number = number << 8 | bytes[i];
  return static_cast<std::int32_t>(number);
}

std::int64_t long_at(std::span<const unsigned char> bytes, std::size_t place) noexcept {
  const auto high = static_cast<std::uint32_t>(number_at(bytes, place));
  const auto low = static_cast<std::uint32_t>(number_at(bytes, place + 4));
  return static_cast<std::int64_t>(std::uint64_t{high} << 32 | low);
}

FrameJudgement pass_if(bool passes) noexcept { return {passes ? FrameVerdict::pass : FrameVerdict::refuse}; }

}  // namespace

bool is_credible(std::int64_t session, std::chrono::milliseconds timeout, bool named_one) noexcept {
  if (session == 0) return named_one;
  return timeout >= 1ms && timeout <= 24h;
}

FrameJudgement judge_handshake(std::span<const unsigned char> bytes, bool named_one) noexcept {
  constexpr std::size_t timeout = 8, session = 12, password = 20;  // after the protocol's version
  constexpr std::int32_t length = 37, without_read_only = 36, password_length = 16;
  if (bytes.size() < prefix) return {FrameVerdict::wait, prefix};
  const std::int32_t given = number_at(bytes, 0);
  if (given != length && given != without_read_only) return {FrameVerdict::refuse};
  const std::size_t whole = prefix + static_cast<std::size_t>(given);
  if (bytes.size() < whole) return {FrameVerdict::wait, whole};
  return pass_if(number_at(bytes, password) == password_length &&
                 is_credible(long_at(bytes, session), std::chrono::milliseconds{number_at(bytes, timeout)}, named_one));
}

/// Source: ReplyHeader and WatcherEvent of zookeeper.jute, and the numbers that zookeeper_process knows (3.8.0).
FrameJudgement judge_frame(std::span<const unsigned char> bytes, bool replies_due) noexcept {
  constexpr std::int32_t event = -1, ping = -2, auth = -4, set_watches = -8;
  constexpr std::int32_t header_length = 16;
  constexpr std::size_t number = 4, event_path = 28;
  if (bytes.size() < number + 4) return {FrameVerdict::wait, number + 4};
  const std::int32_t length = number_at(bytes, 0);
  if (length < header_length) return {FrameVerdict::refuse};
  switch (number_at(bytes, number)) {
    case ping:
    case auth:
    case set_watches: return {FrameVerdict::pass};
    case event: {  // the library does not look whether its path is there
      constexpr std::int32_t before_path = static_cast<std::int32_t>(event_path);
      if (length < before_path) return {FrameVerdict::refuse};
      if (bytes.size() < event_path + 4) return {FrameVerdict::wait, event_path + 4};
      return pass_if(number_at(bytes, event_path) == length - before_path);
    }
    default: return pass_if(replies_due);
  }
}

}  // namespace zklock
