#include "fold.hpp"

#include <utility>

namespace zklock::detail {

Folded fold(const std::vector<const AtomicStep*>& steps, const std::optional<std::string>& data) {
  Folded folded;
  folded.data = data;
  for (const AtomicStep* step : steps) {
    AtomicOutcome outcome = (*step)(folded.data);
    RawAtomic raw;
    raw.before = folded.data;
    if (outcome.after) {
      raw.is_done = folded.is_changed = true;
      folded.data = std::move(outcome.after);
    }
    raw.after = folded.data;
    folded.each.push_back(std::move(raw));
    folded.errors.push_back(outcome.error);
  }
  return folded;
}

}  // namespace zklock::detail
