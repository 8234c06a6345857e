// Faults of links.
#include "nemesis.hpp"
#include "support/fixture.hpp"

namespace zklock::chaos {

using namespace std::chrono_literals;
using test::FrameProxy;

void Nemesis::harm_links(Dice& dice) {
  const bool of_a_worker = below(dice, 3) > 0;
  const std::size_t target = below(dice, of_a_worker ? fleet_.size() : cluster_.size());
  const auto chosen = of_a_worker ? fleet_.links_of(target) : fleet_.links_to(target);
  const auto each = [&](auto what) {
    return [&chosen, what] {
      for (FrameProxy* link : chosen) what(*link);
    };
  };
  const Target number{static_cast<std::int64_t>(target), of_a_worker ? fleet_.process(target) : 0};
  const auto some_time = std::chrono::milliseconds{below(dice, 2) == 0 ? below(dice, 600) : 1'500 + below(dice, 3'000)};
  switch (below(dice, 8)) {
    case 0: return inflict("link_cut", number, 0ms, each([](FrameProxy& link) { link.cut(); }), [] {});
    case 1:
      return inflict("link_refused", number, some_time, each([](FrameProxy& link) {
                       link.refuse();
                       link.cut();
                     }),
                     each([](FrameProxy& link) { link.accept_again(); }));
    case 2:
      return inflict("link_silent", number, some_time, each([](FrameProxy& link) {
                       link.hold(test::Direction::requests);
                       link.hold(test::Direction::replies);
                     }),
                     each([](FrameProxy& link) { link.cut(); }));
    case 3:
    case 4: {
      const auto way = below(dice, 2) == 0 ? test::Direction::requests : test::Direction::replies;
      return inflict("link_one_way", number, some_time, each([way](FrameProxy& link) { link.hold(way); }),
                     each([way](FrameProxy& link) { link.resume(way); }));
    }
    case 5:
      return inflict("link_slow", number, some_time, each([](FrameProxy& link) { link.slow_down(20ms); }),
                     each([](FrameProxy& link) { link.slow_down(0ms); }));
    case 6: return silence_after_handshake(below(dice, fleet_.size()));
    default: {
      using test::Opcode;
      constexpr std::array opcodes{Opcode::create2,        Opcode::remove,        Opcode::multi, Opcode::get_children2,
                                   Opcode::create_session, Opcode::close_session, Opcode::sync};
      const test::Cut cut{.opcode = opcodes[below(dice, opcodes.size())],
                          .point = test::CutPoint{static_cast<int>(below(dice, 5))},
                          .manner = test::CutManner{static_cast<int>(below(dice, 2))},
                          .nth = static_cast<int>(1 + below(dice, 5))};
      return inflict("link_cut_in_frame", number, 0ms, each([cut](FrameProxy& link) { link.cut_at(cut); }), [] {});
    }
  }
}

/// The lease's validity then rests on the handshake alone, and the session ends as early as it may.
void Nemesis::silence_after_handshake(std::size_t member) {
  const auto chosen = fleet_.links_of(member);
  const auto requests = [&] {
    int sum = 0;
    for (FrameProxy* link : chosen)
      for (const auto opcode :
           {test::Opcode::create2, test::Opcode::multi, test::Opcode::get_children2, test::Opcode::sync})
        sum += link->requests(opcode);
    return sum;
  };
  const int process = fleet_.process(member);
  inflict(
      "link_silent_after_handshake", {static_cast<std::int64_t>(member), process}, 2 * options_.session_timeout,
      [&] {
        for (FrameProxy* link : chosen) link->cut();
        const int before = requests();  // the next one comes when the handshake is over
        static_cast<void>(test::eventually([&] { return requests() > before; }, 2s));
        for (FrameProxy* link : chosen) {
          link->hold(test::Direction::requests);
          link->hold(test::Direction::replies);
        }
      },
      [&] {
        for (FrameProxy* link : chosen) link->cut();
      });
}

}  // namespace zklock::chaos
