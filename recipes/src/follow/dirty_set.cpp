#include "dirty_set.hpp"

namespace zklock {

namespace {

constexpr std::size_t index_of(WatchKind kind) noexcept { return static_cast<std::size_t>(kind); }

}  // namespace

/// An item that there is not has a node of null.
DirtySet::Place DirtySet::find(const Item& item) {
  const auto found = nodes_.find(item.path);
  if (found == nodes_.end() || found->second[index_of(item.kind)].state == State::absent) return {};
  return {&*found, item.kind};
}

/// Calls it for all items that there are.
template <class Action>
void DirtySet::each(Action action) {
  for (auto& node : nodes_)
    for (const WatchKind kind : {WatchKind::data, WatchKind::children})
      if (const Place place{&node, kind}; entry_of(place).state != State::absent) action(place);
}

void DirtySet::enqueue(const Place& place) {
  Entry& entry = entry_of(place);
  leave(entry, State::dirty);
  number(entry);
  queue(entry.urgency).emplace(Ticket{entry.number}, place);
}

/// Ends what its state stands for.
void DirtySet::leave(Entry& entry, State next) {
  if (entry.state == State::dirty) queue(entry.urgency).erase(Ticket{entry.number});
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
  const auto node = nodes_.try_emplace(item.path).first;
  Entry& entry = node->second[index_of(item.kind)];
  if (entry.state != State::absent) return;
  entry.urgency = urgency;
  set_duty(entry, duty);
  enqueue({&*node, item.kind});
}

void DirtySet::drop(const Item& item) {
  const auto node = nodes_.find(item.path);
  if (node == nodes_.end()) return;
  Entry& entry = node->second[index_of(item.kind)];
  leave(entry, State::absent);
  set_duty(entry, Duty::none);
  if (node->second[0].state == State::absent && node->second[1].state == State::absent) nodes_.erase(node);
}

/// The numbers go on: replies to earlier reads may still come.
void DirtySet::clear() {
  const Ticket last_number = last_number_;
  *this = {};
  last_number_ = last_number;
}

void DirtySet::mark(const Item& item) {
  if (const Place place = find(item); place.node && entry_of(place).state == State::clean) enqueue(place);
}

void DirtySet::hold(const Item& item) {
  if (const Place place = find(item); place.node && entry_of(place).state == State::clean)
    leave(entry_of(place), State::held);
}

void DirtySet::release(const Item& item) {
  if (const Place place = find(item); place.node && entry_of(place).state == State::held) enqueue(place);
}

void DirtySet::mark_all() {
  each([this](const Place& place) {
    if (entry_of(place).state != State::dirty) enqueue(place);
  });
}

std::vector<DirtySet::Read> DirtySet::take(std::size_t limit) {
  std::vector<Read> reads;
  while (under_way_ < limit && has_dirty()) {
    const Place place = queues_[queues_[0].empty() ? 1 : 0].begin()->second;
    Entry& entry = entry_of(place);
    leave(entry, State::reading);
    ++under_way_;
    number(entry);
    reads.push_back({item_of(place), Ticket{entry.number}});
  }
  return reads;
}

std::pair<bool, DirtySet::Duty> DirtySet::answered(const Read& read, Answer answer) {
  const Place place = find(read.item);
  if (!place.node) return {};
  Entry& entry = entry_of(place);
  if (entry.state != State::reading || entry.number != read.ticket) return {};
  const Duty duty = entry.duty;
  if (answer == Answer::failed) {
    enqueue(place);
  } else {
    leave(entry, State::clean);
    set_duty(entry, Duty::none);
    entry.urgency = Urgency::soon;
  }
  return {true, duty};
}

bool DirtySet::is_clean(const Item& item) {
  const Place place = find(item);
  return place.node && entry_of(place).state == State::clean;
}

void DirtySet::owe_unfinished() {
  each([this](const Place& place) {
    Entry& entry = entry_of(place);
    if (entry.state != State::clean && entry.duty == Duty::none) set_duty(entry, Duty::owed);
  });
}

std::vector<Item> DirtySet::items() {
  std::vector<Item> all;
  each([&](const Place& place) { all.push_back(item_of(place)); });
  return all;
}

}  // namespace zklock
