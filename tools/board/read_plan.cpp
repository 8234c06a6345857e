#include "read_plan.hpp"

#include <algorithm>
#include <utility>

namespace zklock::tools {
namespace {

constexpr std::chrono::seconds retry_pause{1};

bool is_below(const std::string& path, const std::string& directory) {
  return path.size() > directory.size() && path.starts_with(directory) &&
         (directory == "/" || path[directory.size()] == '/');
}

}  // namespace

ReadPlan::ReadPlan(Budget budget, const std::vector<std::string>& bases, Time now) : budget_{budget}, filled_{now} {
  for (const std::string& base : bases) {
    directories_[base].is_base = true;
    directories_[base].pause = budget_.pause;
    make_due(base, directories_[base], now);
  }
}

bool ReadPlan::add(const std::string& path, Time now) {
  if (directories_.contains(path)) return true;
  if (directories_.size() >= budget_.directories) return false;
  Directory& directory = directories_[path];
  directory.pause = budget_.pause;
  make_due(path, directory, now);
  return true;
}

void ReadPlan::remove(const std::string& path) {
  for (auto next = directories_.begin(); next != directories_.end();) {
    if (next->second.is_base || (next->first != path && !is_below(next->first, path))) {
      ++next;
      continue;
    }
    clear_due(next->first, next->second);
    swept_.erase({next->second.listed, next->first});
    end_watch(next->second);
    if (next->second.in_flight) --in_flight_;
    looked_at_.erase(next->first);
    next = directories_.erase(next);
  }
}

void ReadPlan::want_data(const std::vector<std::string>& node_paths, bool looked_at) {
  for (const std::string& path : node_paths) {
    if (!wanted_data_.insert(path).second) {
      const auto waiting = looked_at ? std::ranges::find(data_, path) : data_.end();
      if (waiting == data_.end()) continue;
      data_.erase(waiting);
    }
    (looked_at ? urgent_data_ : data_).push_back(path);
  }
}

void ReadPlan::look_at(const std::vector<std::string>& paths, Time now) {
  for (const std::string& path : looked_at_) {
    Directory& directory = directories_[path];
    if (std::exchange(directory.looked_at, false)) directory.looked_until = now + budget_.keep_watch;
  }
  std::size_t bases = 0;
  for (const auto& [path, directory] : directories_) bases += directory.is_base ? 1 : 0;
  for (const std::string& path : paths) {
    const auto found = directories_.find(path);
    if (found == directories_.end()) continue;
    if (looked_at_.size() + bases >= budget_.watches && !looked_at_.contains(path)) break;
    Directory& directory = found->second;
    directory.looked_at = true;
    looked_at_.insert(path);
    const bool waits_its_turn = directory.due_in == &changed_due_ || directory.due_in == &urgent_due_;
    if (!directory.has_watch && !directory.in_flight && !waits_its_turn) make_due(path, directory, now);
  }
}

void ReadPlan::listed(const std::string& path, std::size_t bytes, bool has_watch, Time now) {
  const auto found = directories_.find(path);
  if (found == directories_.end()) return;
  Directory& directory = found->second;
  if (std::exchange(directory.in_flight, false)) --in_flight_;
  directory.listed = now;
  const auto for_size = std::chrono::milliseconds{1'000 * bytes / std::max<std::size_t>(budget_.bytes_per_second, 1)};
  directory.pause = std::max<Clock::duration>(budget_.pause, for_size);
  if (has_watch && !std::exchange(directory.has_watch, true)) ++watches_;
  if (directory.has_watch) return;
  if (wants_watch(directory, now))
    make_due(path, directory, now + directory.pause);
  else
    swept_.emplace(directory.listed, path);
}

void ReadPlan::list_failed(const std::string& path, Time now) {
  const auto found = directories_.find(path);
  if (found == directories_.end()) return;
  if (std::exchange(found->second.in_flight, false)) --in_flight_;
  make_due(path, found->second, now + retry_pause);
}

void ReadPlan::data_done() noexcept { in_flight_ -= in_flight_ > 0 ? 1 : 0; }

void ReadPlan::fired(const std::string& path, Time now) {
  const auto found = directories_.find(path);
  if (found == directories_.end()) return;
  Directory& directory = found->second;
  end_watch(directory);
  make_due(path, directory, std::max(now, directory.listed + directory.pause),
           wants_watch(directory, now) ? changed_due_ : due_);
}

std::vector<ReadRequest> ReadPlan::next(Time now) {
  refill(now);
  std::vector<ReadRequest> out;
  forget_unseen(out, now);
  while (tokens_ >= 1 && in_flight_ < budget_.in_flight) {
    // Of eight requests one is the sweep's, one for what nobody looks at, one for a new watch, and four are for data, if
    // there are any.
    const std::size_t turn = turn_++ % 8;
    const bool taken = (turn == 0 && take_swept(out, now)) || (turn == 4 && take_due(due_, out, now)) ||
                       (turn == 6 && take_due(urgent_due_, out, now)) || (turn % 2 == 1 && take_data(out)) ||
                       take_due(changed_due_, out, now) || take_due(urgent_due_, out, now) ||
                       take_due(due_, out, now) || take_data(out) || take_swept(out, now);
    if (!taken) break;
    tokens_ -= 1;
    ++in_flight_;
  }
  return out;
}

void ReadPlan::make_due(const std::string& path, Directory& directory, Time at) {
  make_due(path, directory, at, directory.is_base || directory.looked_at ? urgent_due_ : due_);
}

void ReadPlan::make_due(const std::string& path, Directory& directory, Time at, ByTime& queue) {
  clear_due(path, directory);
  swept_.erase({directory.listed, path});
  directory.due = at;
  directory.due_in = &queue;
  queue.emplace(at, path);
}

void ReadPlan::clear_due(const std::string& path, Directory& directory) {
  if (ByTime* due = std::exchange(directory.due_in, nullptr)) due->erase({directory.due, path});
}

void ReadPlan::end_watch(Directory& directory) {
  if (std::exchange(directory.has_watch, false)) --watches_;
}

bool ReadPlan::wants_watch(const Directory& directory, Time now) const {
  return directory.is_base || directory.looked_at || now < directory.looked_until;
}

void ReadPlan::forget_unseen(std::vector<ReadRequest>& out, Time now) {
  for (auto next = looked_at_.begin(); next != looked_at_.end();) {
    Directory& directory = directories_[*next];
    if (wants_watch(directory, now)) {
      ++next;
      continue;
    }
    if (directory.has_watch) {
      end_watch(directory);
      swept_.emplace(directory.listed, *next);
      out.push_back({ReadRequest::Kind::forget, *next});
    }
    next = looked_at_.erase(next);
  }
}

bool ReadPlan::list(const std::string& path, Directory& directory, std::vector<ReadRequest>& out, Time now) {
  clear_due(path, directory);
  swept_.erase({directory.listed, path});
  directory.in_flight = true;
  const bool watch = wants_watch(directory, now) && !directory.has_watch;
  out.push_back({watch ? ReadRequest::Kind::list_and_watch : ReadRequest::Kind::list, path});
  return true;
}

bool ReadPlan::take_due(ByTime& due, std::vector<ReadRequest>& out, Time now) {
  while (has_due(due, now)) {
    const std::string path = due.begin()->second;
    Directory& directory = directories_[path];
    if (!directory.in_flight) return list(path, directory, out, now);
    make_due(path, directory, now + directory.pause, due);
  }
  return false;
}

bool ReadPlan::take_data(std::vector<ReadRequest>& out) {
  auto& queue = urgent_data_.empty() ? data_ : urgent_data_;
  if (queue.empty()) return false;
  out.push_back({ReadRequest::Kind::read, queue.front()});
  wanted_data_.erase(queue.front());
  queue.pop_front();
  return true;
}

bool ReadPlan::take_swept(std::vector<ReadRequest>& out, Time now) {
  const Clock::duration pause = viewed_ ? budget_.sweep_pause : budget_.idle_pause;
  if (swept_.empty() || now - swept_.begin()->first < pause) return false;
  const std::string path = swept_.begin()->second;
  return list(path, directories_[path], out, now);
}

bool ReadPlan::is_settled(Time now) const noexcept {
  const bool is_due = has_due(due_, now) || has_due(urgent_due_, now) || has_due(changed_due_, now);
  return in_flight_ == 0 && !is_due && data_.empty() && urgent_data_.empty();
}

Clock::duration ReadPlan::oldest(Time now) const {
  return swept_.empty() ? Clock::duration::zero() : now - swept_.begin()->first;
}

void ReadPlan::refill(Time now) {
  const int rate = viewed_ ? budget_.reads_per_second : budget_.idle_reads_per_second;
  const std::chrono::duration<double> passed = now - std::exchange(filled_, now);
  tokens_ = std::min(tokens_ + passed.count() * rate, static_cast<double>(budget_.in_flight));
}

}  // namespace zklock::tools
