// What a driver lets the C client read.
#include "server_frames.hpp"

#include "driver.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace zklock;
using namespace std::chrono_literals;

namespace {

using Frame = std::vector<unsigned char>;

Frame& put(Frame& frame, std::int64_t value, int size) {
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
    frame.push_back(static_cast<unsigned char>(static_cast<std::uint64_t>(value) >> shift));
  return frame;
}

Frame handshake(std::int32_t timeout, std::int64_t session, std::int32_t length = 37, std::int32_t password = 16) {
  Frame frame;
  put(put(put(put(put(frame, length, 4), 0, 4), timeout, 4), session, 8), password, 4);
  frame.resize(static_cast<std::size_t>(4 + length));
  return frame;
}

Frame reply(std::int32_t xid, std::int32_t length = 16) {
  Frame frame;
  put(put(put(put(frame, length, 4), xid, 4), 1, 8), 0, 4);
  return frame;
}

Frame event(std::int32_t path_length, std::int32_t length) {
  Frame frame = reply(-1, length);
  return put(put(put(frame, 3, 4), 3, 4), path_length, 4);
}

FrameVerdict verdict_on_handshake(const Frame& bytes, bool named_one) {
  return judge_handshake(bytes, named_one).verdict;
}

Frame text(const std::string& words) { return {words.begin(), words.end()}; }

}  // namespace

TEST_CASE("a handshake grants a session for a credible time, or says that the one that was named is over") {
  for (const bool named_one : {false, true}) {
    CHECK(verdict_on_handshake(handshake(30'000, 0x1234), named_one) == FrameVerdict::pass);
    CHECK(verdict_on_handshake(handshake(30'000, -1), named_one) == FrameVerdict::pass);  // the highest server number
    CHECK(verdict_on_handshake(handshake(30'000, 0x1234, 36), named_one) == FrameVerdict::pass);
    CHECK(verdict_on_handshake(handshake(1, 1), named_one) == FrameVerdict::pass);
    CHECK(verdict_on_handshake(handshake(86'400'000, 1), named_one) == FrameVerdict::pass);
    CHECK(verdict_on_handshake(handshake(86'400'001, 1), named_one) == FrameVerdict::refuse);
    CHECK(verdict_on_handshake(handshake(0, 1), named_one) == FrameVerdict::refuse);
    CHECK(verdict_on_handshake(handshake(-1, 1), named_one) == FrameVerdict::refuse);
    CHECK(verdict_on_handshake(handshake(30'000, 1, 37, 15), named_one) == FrameVerdict::refuse);
    CHECK(verdict_on_handshake(Frame(41), named_one) == FrameVerdict::refuse);
    CHECK(verdict_on_handshake(text("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"), named_one) ==
          FrameVerdict::refuse);
    CHECK(verdict_on_handshake(text("SSH-"), named_one) == FrameVerdict::refuse);
  }
  CHECK(verdict_on_handshake(handshake(0, 0), false) == FrameVerdict::refuse);
  CHECK(verdict_on_handshake(handshake(0, 0), true) == FrameVerdict::pass);
}

TEST_CASE("a handshake that has not come whole is waited for") {
  const Frame whole = handshake(30'000, 1);
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(judge_handshake({whole.data(), size}, false) == FrameJudgement{FrameVerdict::wait, size < 4 ? 4U : 41U});
}

namespace {

using Due = std::optional<ReplyForm>;
constexpr FrameVerdict pass = FrameVerdict::pass, refuse = FrameVerdict::refuse;

/// A successful reply with this number first, and so many bytes in all behind its header.
Frame body(std::int32_t first, std::int32_t size) {
  Frame frame = reply(1, 16 + size);
  return put(frame, first, 4);
}

FrameVerdict verdict(const Frame& frame, Due due) { return judge_frame(frame, due).verdict; }

}  // namespace

TEST_CASE("a frame is a reply that is due, or what servers send unasked") {
  for (const Due due : {Due{}, Due{ReplyForm::nothing}}) {
    const FrameVerdict of_replies = due ? pass : refuse;
    for (const int xid : {-2, -4, -8}) CHECK(verdict(reply(xid), due) == pass);
    for (const int xid : {0, 1, -3, -9, 0x7fff'ffff}) CHECK(verdict(reply(xid), due) == of_replies);
    for (const int length : {15, 0, -1}) CHECK(verdict(reply(-2, length), due) == refuse);
  }
  CHECK(verdict(text("HTTP/1.1"), {}) == refuse);
}

TEST_CASE("a reply has room for what its request has asked for, unless it is an error") {
  using enum ReplyForm;
  for (const ReplyForm form : {stat, path_and_stat, data_and_stat, list_and_stat, transaction}) {
    Frame failed = reply(1);
    failed.back() = 1;
    CHECK(verdict(failed, form) == pass);
  }
  CHECK(verdict(body(0, 68), stat) == pass);
  CHECK(verdict(body(0, 67), stat) == refuse);
  for (const ReplyForm form : {path_and_stat, data_and_stat}) {
    CHECK(verdict(body(5, 77), form) == pass);
    CHECK(verdict(body(5, 76), form) == refuse);
    CHECK(verdict(body(0, 71), form) == refuse);
    CHECK(verdict(body(0x7fff'ffff, 77), form) == refuse);
    CHECK(verdict(body(-2, 77), form) == refuse);
  }
  CHECK(verdict(body(-1, 72), path_and_stat) == refuse);
  CHECK(verdict(body(-1, 72), data_and_stat) == pass);  // a node without data
  CHECK(verdict(body(2, 80), list_and_stat) == pass);
  CHECK(verdict(body(3, 80), list_and_stat) == refuse);
  CHECK(verdict(body(0, 72), list_and_stat) == pass);
  CHECK(verdict(body(0, 71), list_and_stat) == refuse);
  const Frame whole = body(5, 77);
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(judge_frame({whole.data(), size}, data_and_stat) == FrameJudgement{FrameVerdict::wait, size < 8    ? 8U
                                                                                                 : size < 20 ? 20U
                                                                                                             : 24U});
}

TEST_CASE("the reply to a transaction has its parts, and no others") {
  const std::vector<Operation> parts{Operation::create, Operation::remove, Operation::set_data, Operation::check};
  const auto part = [](Frame& frame, std::int32_t type, std::size_t size, std::int32_t first = 0) {
    put(put(put(frame, type, 4), 0, 1), 0, 4);
    if (size > 0) put(frame, first, 4);
    frame.resize(frame.size() + size - std::min<std::size_t>(size, 4));
  };
  const auto closed = [](Frame frame) {
    put(put(put(frame, -1, 4), 1, 1), -1, 4);
    const Frame length = [&] {
      Frame number;
      return put(number, static_cast<std::int64_t>(frame.size()) - 4, 4);
    }();
    std::copy(length.begin(), length.end(), frame.begin());
    return frame;
  };
  const Frame begun = reply(1);
  Frame done = begun;
  part(done, 1, 4 + 2, 2);
  part(done, 2, 0);
  Frame without_last = done;
  part(without_last, 5, 68);
  done = without_last;
  part(done, 13, 0);
  CHECK(judge_transaction(closed(done), parts).verdict == pass);
  CHECK(judge_transaction(closed(without_last), parts).verdict == refuse);
  CHECK(judge_transaction(closed(begun), parts).verdict == refuse);
  Frame more = done;
  part(more, 13, 0);
  CHECK(judge_transaction(closed(more), parts).verdict == refuse);
  Frame failed = begun;
  for (std::size_t i = 0; i < parts.size(); ++i) part(failed, -1, 4);
  CHECK(judge_transaction(closed(failed), parts).verdict == pass);
  Frame others = begun;
  for (std::size_t i = 0; i < parts.size(); ++i) part(others, 2, 0);
  CHECK(judge_transaction(closed(others), parts).verdict == refuse);
  Frame long_path = begun;
  part(long_path, 1, 4 + 2, 0x7fff'ffff);
  CHECK(judge_transaction(closed(long_path), parts).verdict == refuse);
  const Frame whole = closed(done);
  for (std::size_t size = 8; size < whole.size(); ++size)
    CHECK(judge_transaction({whole.data(), size}, parts) == FrameJudgement{FrameVerdict::wait, whole.size()});
  for (std::size_t length = 20; length < whole.size(); ++length) {  // its length says that it ends earlier
    Frame cut = whole;
    cut[2] = 0;
    cut[3] = static_cast<unsigned char>(length - 4);
    CHECK(judge_transaction(cut, parts).verdict == refuse);
  }
}

TEST_CASE("an event has a path, which fills the rest of its frame") {
  CHECK(verdict(event(4, 32), {}) == pass);
  CHECK(verdict(event(0, 28), {}) == pass);
  CHECK(verdict(event(5, 32), {}) == refuse);
  CHECK(verdict(event(-1, 28), {}) == refuse);
  CHECK(verdict(event(0, 24), {}) == refuse);
  const Frame whole = event(4, 32);
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(judge_frame({whole.data(), size}, {}) == FrameJudgement{FrameVerdict::wait, size < 8 ? 8U : 32U});
}
