#include "server_frames.hpp"

#include "driver.hpp"

#include <algorithm>

namespace zklock {

namespace {

using namespace std::chrono_literals;

// The numbers of what is no reply to a request.
constexpr std::int32_t event = -1, ping = -2, auth = -4, set_watches = -8;
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

bool is_unasked(std::int32_t xid) noexcept { return xid == event || xid == ping || xid == auth || xid == set_watches; }

FrameJudgement pass_if(bool passes) noexcept { return {passes ? FrameVerdict::pass : FrameVerdict::refuse}; }

constexpr std::size_t body_of_reply = 20;
constexpr std::int32_t stat_size = 68;

/// `room`: how many bytes the body has.
FrameJudgement judge_reply(std::span<const unsigned char> bytes, std::int32_t room, ReplyForm form) noexcept {
  constexpr std::size_t error = 16;
  constexpr std::int32_t shortest_item = 4;
  if (bytes.size() < body_of_reply) return {FrameVerdict::wait, body_of_reply};
  if (number_at(bytes, error) != 0 || form == ReplyForm::nothing || form == ReplyForm::transaction)
    return {FrameVerdict::pass};
  room -= stat_size;
  if (form == ReplyForm::stat) return pass_if(room >= 0);
  room -= 4;
  if (room < 0) return {FrameVerdict::refuse};
  if (bytes.size() < body_of_reply + 4) return {FrameVerdict::wait, body_of_reply + 4};
  const std::int32_t size = number_at(bytes, body_of_reply);
  if (form == ReplyForm::list_and_stat) return pass_if(size <= room / shortest_item);
  return pass_if(size <= room && size >= (form == ReplyForm::path_and_stat ? 0 : -1));
}

/// ZooDefs.OpCode of the parts that a transaction may have.
std::int32_t code_of(Operation operation) noexcept {
  switch (operation) {
    case Operation::create: return 1;
    case Operation::remove: return 2;
    case Operation::set_data: return 5;
    default: return 13;  // check
  }
}

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
FrameJudgement judge_frame(std::span<const unsigned char> bytes, std::optional<ReplyForm> due) noexcept {
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
    default:
      if (!due) return {FrameVerdict::refuse};
      return judge_reply(bytes, length - header_length, *due);
  }
}

/// Source: MultiResponse.java. Each part has a header of 9 bytes: its type or -1, whether it is the end, its error.
FrameJudgement judge_transaction(std::span<const unsigned char> bytes, std::span<const Operation> parts) noexcept {
  constexpr std::size_t part_header = 9, end = 4;
  const std::size_t whole = size_of_frame(bytes);
  if (whole > largest_judged_frame) return {FrameVerdict::pass};
  if (bytes.size() < whole) return {FrameVerdict::wait, whole};
  std::size_t place = body_of_reply;
  for (const Operation part : parts) {
    if (place + part_header > whole || bytes[place + end] != 0) return {FrameVerdict::refuse};
    const std::int32_t type = number_at(bytes, place);
    place += part_header;
    if (type == -1) {
      place += 4;
    } else if (type != code_of(part)) {
      return {FrameVerdict::refuse};
    } else if (part == Operation::set_data) {
      place += stat_size;
    } else if (part == Operation::create) {
      if (place + 4 > whole || number_at(bytes, place) < 0) return {FrameVerdict::refuse};
      place += 4 + static_cast<std::size_t>(number_at(bytes, place));
    }
  }
  return pass_if(place + part_header <= whole && bytes[place + end] != 0);
}

bool is_success(std::span<const unsigned char> bytes) noexcept {
  return !is_unasked(number_at(bytes, 4)) && bytes.size() >= body_of_reply && number_at(bytes, 16) == 0;
}

std::size_t size_of_frame(std::span<const unsigned char> bytes) noexcept {
  return prefix + static_cast<std::size_t>(number_at(bytes, 0));
}

ReplyForm form_of(Operation operation) noexcept {
  switch (operation) {
    case Operation::create: return ReplyForm::path_and_stat;
    case Operation::exists:
    case Operation::set_data: return ReplyForm::stat;
    case Operation::get_data: return ReplyForm::data_and_stat;
    case Operation::get_children:
    case Operation::get_acl: return ReplyForm::list_and_stat;
    case Operation::multi: return ReplyForm::transaction;
    case Operation::remove:
    case Operation::set_acl:
    case Operation::sync:
    case Operation::check: break;
  }
  return ReplyForm::nothing;
}

}  // namespace zklock
