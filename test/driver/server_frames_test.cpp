// What a driver lets the C client read.
#include "server_frames.hpp"

#include "support/catch.hpp"

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

FrameVerdict verdict(const Frame& bytes, bool named_one) { return judge_handshake(bytes, named_one).verdict; }

Frame text(const std::string& words) { return {words.begin(), words.end()}; }

}  // namespace

TEST_CASE("a handshake grants a session for a credible time, or says that the one that was named is over") {
  for (const bool named_one : {false, true}) {
    CHECK(verdict(handshake(30'000, 0x1234), named_one) == FrameVerdict::pass);
    CHECK(verdict(handshake(30'000, -1), named_one) == FrameVerdict::pass);  // the highest server number
    CHECK(verdict(handshake(30'000, 0x1234, 36), named_one) == FrameVerdict::pass);
    CHECK(verdict(handshake(1, 1), named_one) == FrameVerdict::pass);
    CHECK(verdict(handshake(86'400'000, 1), named_one) == FrameVerdict::pass);
    CHECK(verdict(handshake(86'400'001, 1), named_one) == FrameVerdict::refuse);
    CHECK(verdict(handshake(0, 1), named_one) == FrameVerdict::refuse);
    CHECK(verdict(handshake(-1, 1), named_one) == FrameVerdict::refuse);
    CHECK(verdict(handshake(30'000, 1, 37, 15), named_one) == FrameVerdict::refuse);
    CHECK(verdict(Frame(41), named_one) == FrameVerdict::refuse);
    CHECK(verdict(text("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"), named_one) == FrameVerdict::refuse);
    CHECK(verdict(text("SSH-"), named_one) == FrameVerdict::refuse);
  }
  CHECK(verdict(handshake(0, 0), false) == FrameVerdict::refuse);
  CHECK(verdict(handshake(0, 0), true) == FrameVerdict::pass);
}

TEST_CASE("a handshake that has not come whole is waited for") {
  const Frame whole = handshake(30'000, 1);
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(judge_handshake({whole.data(), size}, false) == FrameJudgement{FrameVerdict::wait, size < 4 ? 4U : 41U});
}

TEST_CASE("a frame is a reply that is due, or what servers send unasked") {
  for (const bool replies_due : {false, true}) {
    for (const int xid : {-2, -4, -8}) CHECK(judge_frame(reply(xid), replies_due).verdict == FrameVerdict::pass);
    for (const int xid : {0, 1, -3, -9, 0x7fff'ffff})
      CHECK(judge_frame(reply(xid), replies_due).verdict == (replies_due ? FrameVerdict::pass : FrameVerdict::refuse));
    for (const int length : {15, 0, -1})
      CHECK(judge_frame(reply(-2, length), replies_due).verdict == FrameVerdict::refuse);
    CHECK(judge_frame(text("HTTP/1.1"), replies_due).verdict ==
          (replies_due ? FrameVerdict::pass : FrameVerdict::refuse));
  }
}

TEST_CASE("an event has a path, which fills the rest of its frame") {
  CHECK(judge_frame(event(4, 32), false).verdict == FrameVerdict::pass);
  CHECK(judge_frame(event(0, 28), false).verdict == FrameVerdict::pass);
  CHECK(judge_frame(event(5, 32), false).verdict == FrameVerdict::refuse);
  CHECK(judge_frame(event(-1, 28), false).verdict == FrameVerdict::refuse);
  CHECK(judge_frame(event(0, 24), false).verdict == FrameVerdict::refuse);
  const Frame whole = event(4, 32);
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(judge_frame({whole.data(), size}, false) == FrameJudgement{FrameVerdict::wait, size < 8 ? 8U : 32U});
}
