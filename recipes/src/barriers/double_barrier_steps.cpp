#include "double_barrier_steps.hpp"

#include <algorithm>

namespace zklock {

EntryStep entry_step(const std::optional<Stat>& ready, std::int64_t own, std::size_t counted, std::size_t quantity) {
  if (!ready) return entry_step_at_left_over(counted, quantity);
  return ready->mzxid > own ? EntryStep::in : EntryStep::look;
}

EntryStep entry_step_at_left_over(std::size_t counted, std::size_t quantity) {
  return counted >= quantity ? EntryStep::open : EntryStep::wait;
}

bool is_joinable(const Stat& member, const Stat& ready) { return member.czxid < ready.mzxid && member.version == 0; }

std::optional<BarrierRound> round_before(const Stat& own, const std::optional<Stat>& ready) {
  if (!ready) return std::nullopt;
  const auto has_counted = [&](std::int64_t opened) { return own.czxid < opened && opened < own.mzxid; };
  if (has_counted(ready->mzxid)) return BarrierRound{ready->mzxid};
  if (has_counted(ready->czxid)) return BarrierRound{ready->czxid};  // the next round has opened since, by that node
  return std::nullopt;
}

bool is_of_round(const Stat& member, const BarrierRound& round) { return member.czxid < round.number; }

bool is_of_round(const std::optional<Stat>& ready, const BarrierRound& round) {
  return ready && ready->mzxid == round.number && !round.joined_late;
}

std::vector<std::string> members_of(std::vector<std::string> children) {
  std::erase(children, ready_name);
  std::ranges::sort(children);
  return children;
}

}  // namespace zklock
