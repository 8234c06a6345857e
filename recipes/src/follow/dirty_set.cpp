#include "dirty_set.hpp"

namespace zklock {

void DirtySet::enqueue(Entries::value_type& entry) {
  leave(entry.second, State::dirty);
  entry.second.number = ++last_number_;
  queue(entry.second.urgency).emplace(entry.second.number, &entry);
}

/// Ends what its state stands for.
void DirtySet::leave(Entry& entry, State next) {
  if (entry.state == State::dirty) queue(entry.urgency).erase(entry.number);
  if (entry.state == State::reading) --under_way_;
  entry.state = next;
  entry.number = 0;
}

void DirtySet::set_duty(Entry& entry, Duty duty) {
  std::size_t& owed = owed_[static_cast<std::size_t>(entry.urgency)];
  if (entry.duty == Duty::owed) --owed;
  entry.duty = duty;
  if (duty == Duty::owed) ++owed;
}

void DirtySet::add(const Item& item, Urgency urgency, Duty duty) {
  const auto [found, is_new] = items_.try_emplace(item);
  if (!is_new) return;
  found->second.urgency = urgency;
  set_duty(found->second, duty);
  enqueue(*found);
}

void DirtySet::drop(const Item& item) {
  const auto found = items_.find(item);
  if (found == items_.end()) return;
  leave(found->second, State::clean);
  set_duty(found->second, Duty::none);
  items_.erase(found);
}

/// The numbers go on: replies to earlier reads may still come.
void DirtySet::clear() {
  const std::uint64_t last_number = last_number_;
  *this = {};
  last_number_ = last_number;
}

void DirtySet::mark(const Item& item) {
  const auto found = items_.find(item);
  if (found != items_.end() && found->second.state == State::clean) enqueue(*found);
}

void DirtySet::hold(const Item& item) {
  const auto found = items_.find(item);
  if (found != items_.end() && found->second.state == State::clean) leave(found->second, State::held);
}

void DirtySet::release(const Item& item) {
  const auto found = items_.find(item);
  if (found != items_.end() && found->second.state == State::held) enqueue(*found);
}

void DirtySet::mark_all() {
  for (auto& entry : items_)
    if (entry.second.state != State::dirty) enqueue(entry);
}

std::vector<DirtySet::Read> DirtySet::take(std::size_t limit) {
  std::vector<Read> reads;
  while (under_way_ < limit && has_dirty()) {
    auto& first = queues_[queues_[0].empty() ? 1 : 0];
    auto& [item, entry] = *first.begin()->second;
    leave(entry, State::reading);
    ++under_way_;
    entry.number = ++last_number_;
    reads.push_back({item, entry.number});
  }
  return reads;
}

std::pair<bool, DirtySet::Duty> DirtySet::answered(const Read& read, Answer answer) {
  const auto found = items_.find(read.item);
  if (found == items_.end()) return {};
  Entry& entry = found->second;
  if (entry.state != State::reading || entry.number != read.ticket) return {};
  const Duty duty = entry.duty;
  if (answer == Answer::failed) {
    enqueue(*found);
  } else {
    leave(entry, State::clean);
    set_duty(entry, Duty::none);
    entry.urgency = Urgency::soon;
  }
  return {true, duty};
}

bool DirtySet::is_clean(const Item& item) const {
  const auto found = items_.find(item);
  return found != items_.end() && found->second.state == State::clean;
}

void DirtySet::owe_unfinished() {
  for (auto& [item, entry] : items_)
    if (entry.state != State::clean && entry.duty == Duty::none) set_duty(entry, Duty::owed);
}

}  // namespace zklock
