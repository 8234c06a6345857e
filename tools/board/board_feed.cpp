#include "board_feed.hpp"

#include <zklock/path.hpp>

#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace zklock::tools {
namespace {

constexpr std::chrono::milliseconds tick_time{25};
constexpr std::chrono::seconds holders_pause{5};  // a re-entry or a request to revoke changes data, not children
constexpr std::size_t waiters_read = 8;
constexpr std::size_t waiters_read_if_open = 50;
constexpr std::ptrdiff_t deepest_level = 16;

std::chrono::system_clock::time_point wall_clock() { return std::chrono::system_clock::now(); }

std::size_t bytes_of(const std::vector<std::string>& names) {
  std::size_t bytes = 0;
  for (const std::string& name : names) bytes += name.size() + 4;
  return bytes;
}

}  // namespace

BoardFeed::BoardFeed(asio::any_io_executor executor, ClientHandle client, std::vector<std::string> bases, Budget budget)
    : executor_{std::move(executor)},
      client_{std::move(client)},
      bases_{std::move(bases)},
      plan_{budget, bases_, Clock::now()},
      timer_{executor_},
      states_{client_.states()} {}

void BoardFeed::start() {
  stopped_ = false;
  follow_link();
  tick();
}

void BoardFeed::stop() {
  stopped_ = true;
  timer_.cancel();
  watches_.clear();
}

void BoardFeed::tick() {
  if (stopped_) return;
  const Clock::time_point now = Clock::now();
  if (now - holders_read_ > holders_pause) refresh_holders();
  if (connected_)
    for (const ReadRequest& request : plan_.next(now)) send(request);
  timer_.expires_after(tick_time);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (!error) self->tick();
  });
}

void BoardFeed::follow_link() {
  states_.async_next(
      asio::bind_executor(executor_, [self = shared_from_this()](error_code error, ConnectionState state) {
        if (error || self->stopped_) return;
        self->connected_ = state == ConnectionState::connected || state == ConnectionState::reconnected ||
                           state == ConnectionState::read_only;
        self->follow_link();
      }));
}

void BoardFeed::send(const ReadRequest& request) {
  if (request.kind != ReadRequest::Kind::forget) ++reads_;
  switch (request.kind) {
    case ReadRequest::Kind::list: return list(request.path);
    case ReadRequest::Kind::list_and_watch: return list_and_watch(request.path);
    case ReadRequest::Kind::read: return read(request.path);
    case ReadRequest::Kind::forget: watches_.erase(request.path);
  }
}

void BoardFeed::list(const std::string& path) {
  client_.async_get_children(
      path, asio::bind_executor(executor_,
                                [self = shared_from_this(), path](error_code error, const ChildrenResult& children) {
                                  self->on_listed(path, error, children, nullptr);
                                }));
}

void BoardFeed::list_and_watch(const std::string& path) {
  client_.async_get_children_and_watch(
      path, asio::bind_executor(executor_, [self = shared_from_this(), path](
                                               error_code error, const ChildrenResult& children, Watch watch) {
        self->on_listed(path, error, children, &watch);
      }));
}

void BoardFeed::read(const std::string& path) {
  client_.async_get_data(
      path, asio::bind_executor(executor_, [self = shared_from_this(), path](error_code error, const DataResult& node) {
        self->on_read(path, error, node);
      }));
}

void BoardFeed::on_listed(const std::string& path, error_code error, const ChildrenResult& children, Watch* watch) {
  if (stopped_) return;
  const Clock::time_point now = Clock::now();
  if (error == Error::no_node) return on_no_node(path);
  if (error) {
    if (error == Error::no_auth) board_.unreadable(path, wall_clock());
    return plan_.list_failed(path, now);
  }
  contact_ = wall_clock();
  missing_.erase(path);
  plan_.listed(path, bytes_of(children.names), watch != nullptr, now);
  if (watch != nullptr) keep_watch(path, std::move(*watch));
  add_directories(path, board_.listed(path, children.names, contact_));
  want_data(board_.lock_of(path));
}

void BoardFeed::on_no_node(const std::string& path) {
  board_.gone(path, wall_clock());
  plan_.remove(path);
  if (std::ranges::find(bases_, path) == bases_.end()) return;
  missing_.insert(path);
  await_base(path);
}

/// A watch tells when the base is there, so that it is not listed in vain. For the plan this is the base's listing, which
/// is still under way.
void BoardFeed::await_base(const std::string& base) {
  ++reads_;
  client_.async_exists_and_watch(
      base, asio::bind_executor(executor_, [self = shared_from_this(), base](
                                               error_code error, const std::optional<Stat>& found, Watch watch) {
        if (self->stopped_) return;
        if (error) return self->plan_.list_failed(base, Clock::now());
        self->contact_ = wall_clock();
        self->plan_.listed(base, 0, true, Clock::now());
        if (found) return self->plan_.fired(base, Clock::now());  // made meanwhile
        self->keep_watch(base, std::move(watch));
      }));
}

void BoardFeed::keep_watch(const std::string& path, Watch watch) {
  Watch& kept = watches_[path] = std::move(watch);
  kept.async_wait(
      asio::bind_executor(executor_, [self = shared_from_this(), path](error_code error, const WatchEvent&) {
        if (self->stopped_ || error == asio::error::operation_aborted) return;
        self->watches_.erase(path);
        self->plan_.fired(path, Clock::now());
      }));
}

void BoardFeed::add_directories(const std::string& parent, const LockBoard::Changes& changes) {
  for (const std::string& path : changes.vanished) plan_.remove(path);
  for (const std::string& path : changes.appeared) {
    if (path == "/zookeeper") continue;
    const bool is_deep = std::ranges::count(path, '/') > deepest_level;
    if (is_deep || !plan_.add(path, Clock::now())) board_.cut_off(parent);
  }
}

void BoardFeed::want_data(const std::string& lock) {
  const bool is_open = open_.contains(lock);
  const bool is_seen = is_open || std::ranges::find(seen_, lock) != seen_.end();
  plan_.want_data(board_.unread(lock, is_open ? waiters_read_if_open : waiters_read), is_seen);
}

void BoardFeed::on_read(const std::string& path, error_code error, const DataResult& node) {
  if (stopped_) return;
  plan_.data_done();
  if (!error) {
    contact_ = wall_clock();
    board_.node_read(path, node, contact_);
  } else if (error == Error::no_node || error == Error::no_auth) {
    board_.node_unreadable(path);
  } else {
    plan_.want_data({path}, false);
  }
}

void BoardFeed::look_at(const std::vector<std::string>& seen, const std::set<std::string>& open) {
  seen_ = seen;
  open_ = open;
  std::vector<std::string> directories;
  const auto add = [&](const std::string& lock) {
    std::ranges::move(board_.directories_of(lock), std::back_inserter(directories));
  };
  std::ranges::for_each(open, add);
  std::ranges::for_each(seen, add);
  plan_.look_at(directories, Clock::now());
  for (const std::string& lock : open) want_data(lock);
}

void BoardFeed::refresh_holders() {
  holders_read_ = Clock::now();
  const auto read_again = [&](const std::string& lock) {
    if (const BoardLock* row = board_.find(lock); row != nullptr && row->holders > 0)
      plan_.want_data({row->holder.node_path}, false);  // what is not known yet goes first
  };
  std::ranges::for_each(seen_, read_again);
  std::ranges::for_each(open_, read_again);
}

BoardFeed::Status BoardFeed::status() const {
  const auto oldest = std::chrono::duration_cast<std::chrono::milliseconds>(plan_.oldest(Clock::now()));
  return {connected_, contact_, missing_, reads_, plan_.watches(), plan_.directories(), oldest};
}

bool BoardFeed::is_watched(const std::string& lock) const {
  return std::ranges::all_of(board_.directories_of(lock), [&](const auto& path) { return watches_.contains(path); });
}

}  // namespace zklock::tools
