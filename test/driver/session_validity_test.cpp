#include "session_validity.hpp"

#include "support/catch.hpp"

#include <optional>
#include <vector>

using namespace zklock;
using namespace std::chrono_literals;

namespace {

constexpr Clock::duration timeout = 4s;
constexpr Clock::duration guard = SessionValidity::guard;

Clock::time_point at(Clock::duration since) { return Clock::time_point{} + 1h + since; }

/// Requests that are answered 10 ms after they are sent.
class Conversation {
 public:
  Conversation& handshake(Clock::duration sent) { return hear(sent, &ServerAck::add_handshake); }
  Conversation& read(Clock::duration sent) { return hear(sent, &ServerAck::add); }
  Conversation& write(Clock::duration sent) { return writes({sent}, sent + 10ms); }
  /// Several requests whose answers arrive together.
  Conversation& writes(std::initializer_list<Clock::duration> sent, Clock::duration arrived) {
    ServerAck ack;
    for (const auto& each : sent) {
      ack.add(at(each));
      ack.add_acknowledged(at(each));
    }
    proof_.on_server_ack(ack, at(arrived), timeout);
    return *this;
  }
  /// The send time of the request that the proof counts from; nothing when there is no proof.
  [[nodiscard]] std::optional<Clock::duration> counts_from() const {
    if (proof_.valid_until() == Clock::time_point::min()) return std::nullopt;
    return proof_.valid_until() + guard - timeout - at(0s);
  }

 private:
  Conversation& hear(Clock::duration sent, void (ServerAck::*add)(Clock::time_point) noexcept) {
    ServerAck ack;
    (ack.*add)(at(sent));
    proof_.on_server_ack(ack, at(sent + 10ms), timeout);
    return *this;
  }

  SessionValidity proof_;
};

}  // namespace

TEST_CASE("an answer that came well before an acknowledged write was sent proves the session alive") {
  // A quarter of 4 s, the guard of 50 ms, and the 10 ms that an answer takes: 1060 ms.
  CHECK(Conversation{}.counts_from() == std::nullopt);
  CHECK(Conversation{}.read(0s).counts_from() == std::nullopt);
  CHECK(Conversation{}.write(0s).counts_from() == std::nullopt);
  CHECK(Conversation{}.handshake(0s).counts_from() == 0s);
  CHECK(Conversation{}.handshake(0s).read(2s).counts_from() == 0s);
  CHECK(Conversation{}.handshake(0s).write(2s).counts_from() == 0s);
  CHECK(Conversation{}.handshake(0s).read(2s).write(3s).counts_from() == 0s);
  CHECK(Conversation{}.handshake(0s).read(2s).write(3059ms).counts_from() == 0s);
  CHECK(Conversation{}.handshake(0s).read(2s).write(3060ms).counts_from() == 2s);
  CHECK(Conversation{}.handshake(0s).read(2s).read(3s).write(3500ms).counts_from() == 2s);
  CHECK(Conversation{}.handshake(0s).read(2s).read(2200ms).write(3500ms).counts_from() == 2200ms);
  CHECK(Conversation{}.handshake(0s).write(2s).write(3060ms).counts_from() == 2s);
  CHECK(Conversation{}.handshake(0s).write(2s).write(3060ms).write(3061ms).counts_from() == 2s);
}

TEST_CASE("a write after a long silence proves only what was before the silence") {
  Conversation conversation;
  conversation.handshake(0s).read(1s).write(3s).read(3500ms);
  CHECK(conversation.counts_from() == 1s);
  conversation.write(8s);  // a paused process: the leader is known to have heard of 3 s and 3.5 s
  CHECK(conversation.counts_from() == 3500ms);
  conversation.write(9060ms);
  CHECK(conversation.counts_from() == 8s);
}

TEST_CASE("a write that is acknowledged late proves nothing, since a leader that stood still ends sessions now") {
  Conversation conversation;
  conversation.handshake(0s).read(2s).write(3100ms).read(4s);
  REQUIRE(conversation.counts_from() == 2s);
  SECTION("nor do those that were sent shortly before the leader went on") {
    conversation.writes({3500ms}, 6s).writes({5100ms}, 6001ms).writes({5900ms}, 6002ms).write(6048ms);
    CHECK(conversation.counts_from() == 2s);
    conversation.write(6052ms);  // the leader has gone on since, and would have ended the session
    CHECK(conversation.counts_from() == 4s);
  }
  SECTION("nor do they if all of the answers arrive at once") {
    conversation.writes({3500ms, 5100ms, 5990ms}, 6s);
    CHECK(conversation.counts_from() == 2s);
    conversation.write(6050ms);
    CHECK(conversation.counts_from() == 4s);
  }
}

TEST_CASE("a handshake proves a new session alive at once, and a resumed one after an acknowledged write") {
  Conversation conversation;
  conversation.handshake(0s);
  CHECK(conversation.counts_from() == 0s);
  conversation.read(2s).handshake(2500ms);  // 2.51 s: the session may have been on the leader's list of those to end
  CHECK(conversation.counts_from() == 0s);
  conversation.write(2559ms);
  CHECK(conversation.counts_from() == 0s);
  conversation.write(2560ms);
  CHECK(conversation.counts_from() == 2500ms);
}

TEST_CASE("requests that another server heard before a handshake do not count after it") {
  Conversation conversation;
  conversation.handshake(0s).read(2s).handshake(2500ms).writes({2700ms}, 5s);
  CHECK(conversation.counts_from() == 0s);
  conversation.write(5100ms);
  CHECK(conversation.counts_from() == 2500ms);
}

TEST_CASE("a proof that is renewed nine times in a timeout lasts for half of the timeout or longer") {
  Conversation conversation;
  conversation.handshake(0s);
  const Clock::duration beat = timeout / 9;
  for (int beats = 1; beats < 50; ++beats) {
    conversation.write(beats * beat);
    INFO("beats " << beats);
    CHECK(*conversation.counts_from() >= (beats - 4) * beat);
  }
}

TEST_CASE("many answers use no more memory and do not shorten the proof") {
  Conversation conversation;
  conversation.handshake(0s);
  for (auto sent = 1ms; sent < 20s; sent += 1ms) conversation.read(sent);
  conversation.write(20s);
  CHECK(*conversation.counts_from() <= 20s - timeout / 4 - guard);
  CHECK(*conversation.counts_from() >= 20s - timeout / 4 - guard - timeout / 16);
}
