#include "live_board.hpp"

#include "access.hpp"

#include <algorithm>
#include <set>

namespace zklock::tools {
namespace {

constexpr std::size_t max_seen = 200;
constexpr std::size_t max_trend = 720;  // an hour
constexpr std::uint64_t trend_ticks = 5;
constexpr std::uint64_t examine_ticks = 2;

using Wall = std::chrono::system_clock;

}  // namespace

/// A viewer for as long as its connection lasts.
class LiveBoard::Events : public EventSource {
 public:
  Events(LiveBoard& board, std::shared_ptr<Viewer> viewer) : board_{board}, viewer_{std::move(viewer)} {}
  ~Events() override { board_.close(viewer_->id); }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  std::string next() override { return board_.updates_for(*viewer_); }

 private:
  LiveBoard& board_;
  std::shared_ptr<Viewer> viewer_;
};

std::unique_ptr<EventSource> LiveBoard::open() {
  auto viewer = std::make_shared<Viewer>();
  viewer->id = std::to_string(++streams_) + "-" + make_token().substr(0, 16);
  viewers_.emplace(viewer->id, viewer);
  feed_->set_viewed(true);
  if (status_.empty()) tick();
  return std::make_unique<Events>(*this, std::move(viewer));
}

void LiveBoard::close(const std::string& stream) {
  viewers_.erase(stream);
  feed_->set_viewed(!viewers_.empty());
  tell_feed();
}

bool LiveBoard::look(const std::string& stream, std::vector<std::string> seen, std::string open) {
  const auto found = viewers_.find(stream);
  if (found == viewers_.end()) return false;
  if (seen.size() > max_seen) seen.resize(max_seen);
  found->second->seen = std::move(seen);
  found->second->open = std::move(open);
  found->second->detail.clear();
  tell_feed();
  return true;
}

void LiveBoard::tell_feed() {
  std::vector<std::string> seen;
  std::set<std::string> open;
  for (const auto& [id, viewer] : viewers_) {
    seen.insert(seen.end(), viewer->seen.begin(), viewer->seen.end());
    if (!viewer->open.empty()) open.insert(viewer->open);
  }
  std::ranges::sort(seen);
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  feed_->look_at(seen, open);
}

void LiveBoard::tick() {
  ++ticks_;
  if (ticks_ % trend_ticks == 1) add_trend();
  if (!viewers_.empty()) {
    tell_feed();
    if (ticks_ % examine_ticks == 0) examine();
  }
  const BoardFeed::Status now = feed_->status();
  BoardStatus status;
  status.now = Wall::now();
  status.contact = now.contact;
  status.connected = now.connected;
  status.missing.assign(now.missing.begin(), now.missing.end());
  status.reads_per_second = static_cast<std::size_t>(now.reads - std::exchange(reads_, now.reads));
  status.watches = now.watches;
  status.viewers = viewers_.size();
  status.oldest = now.oldest;
  status.trend = std::exchange(has_new_trend_, false) ? &trend_.back() : nullptr;
  status_ = to_event("status", status_json(status));
}

void LiveBoard::add_trend() {
  TrendPoint point{Wall::now(), 0, 0};
  for (const auto& [path, lock] : feed_->board().locks()) {
    point.held += lock.holders > 0 ? 1 : 0;
    point.waiting += lock.waiting;
  }
  trend_.push_back(point);
  if (trend_.size() > max_trend) trend_.pop_front();
  has_new_trend_ = true;
}

void LiveBoard::examine() {
  diagnosis_.examine(feed_->board(), Wall::now());
  std::string text = findings_json(diagnosis_.findings(), diagnosis_.tree(), feed_->board());
  if (text == findings_) return;
  findings_ = std::move(text);
  ++findings_version_;
}

void LiveBoard::set_plots(std::string json) {
  plots_ = std::move(json);
  ++plots_version_;
}

std::string LiveBoard::updates_for(Viewer& viewer) {
  std::string text;
  if (!std::exchange(viewer.greeted, true)) {
    Greeting greeting = greeting_;
    greeting.stream = viewer.id;
    greeting.trend.assign(trend_.begin(), trend_.end());
    text += to_event("hello", greeting_json(greeting));
  }
  text += rows_for(viewer);
  if (!viewer.open.empty()) {
    std::string detail = to_event("detail", detail_json(feed_->board(), viewer.open, max_places, max_events));
    if (detail != viewer.detail) text += viewer.detail = std::move(detail);
  }
  if (std::exchange(viewer.findings, findings_version_) != findings_version_) text += to_event("finding", findings_);
  if (std::exchange(viewer.plots, plots_version_) != plots_version_) text += to_event("plots", plots_);
  if (std::exchange(viewer.status, ticks_) != ticks_) text += status_;
  return text;
}

std::string LiveBoard::rows_for(Viewer& viewer) {
  const LockBoard& board = feed_->board();
  const std::uint64_t from = std::exchange(viewer.revision, board.revision());
  const bool is_too_old =
      board.removals().size() >= LockBoard::max_removals && from < board.removals().front().revision;
  if (from != 0 && !is_too_old) return delta_between(from, viewer);
  if (board.revision() == 0 && from == 0 && viewer.status != 0) return {};
  std::vector<BoardRow> rows;
  viewer.live.clear();
  for (const auto& [path, lock] : board.locks()) {
    const bool is_watched = feed_->is_watched(path);
    if (is_watched) viewer.live.insert(path);
    rows.push_back({&lock, is_watched});
  }
  return to_event("snapshot", snapshot_json(rows));
}

std::string LiveBoard::delta_between(std::uint64_t from, Viewer& viewer) {
  const LockBoard& board = feed_->board();
  std::vector<BoardRow> changed;
  const auto add = [&](const BoardLock& lock) {
    const bool is_watched = feed_->is_watched(lock.path);
    if (is_watched)
      viewer.live.insert(lock.path);
    else
      viewer.live.erase(lock.path);
    changed.push_back({&lock, is_watched});
  };
  if (from != board.revision())
    for (const auto& [path, lock] : board.locks())
      if (lock.revision > from) add(lock);
  for (const std::string& path : viewer.seen)
    if (const BoardLock* lock = board.find(path);
        lock != nullptr && lock->revision <= from && feed_->is_watched(path) != viewer.live.contains(path))
      add(*lock);
  std::vector<std::string> gone;
  for (auto removal = board.removals().rbegin(); removal != board.removals().rend() && removal->revision > from;
       ++removal)
    gone.push_back(removal->lock);
  for (const std::string& path : gone)
    if (board.find(path) == nullptr) viewer.live.erase(path);
  return changed.empty() && gone.empty() ? std::string{} : to_event("delta", delta_json(changed, gone));
}

}  // namespace zklock::tools
