#include "directory_watch.hpp"

#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <utility>

namespace zklock {

using namespace std::chrono_literals;

namespace {

constexpr Clock::duration longest_trust = 2min;
constexpr Clock::duration pause_after_refusal = 1min;

}  // namespace

void DirectoryWatches::admit(const std::shared_ptr<DirectoryWatch>& watch, std::size_t bytes) {
  std::vector<std::shared_ptr<DirectoryWatch>> others;
  std::size_t sum = bytes;
  for (const auto& each : std::exchange(set_, {})) {
    auto other = each.lock();
    if (!other || other == watch || other->phase_ == DirectoryWatch::Phase::none) continue;
    sum += other->bytes_;
    others.push_back(std::move(other));
  }
  std::ranges::sort(others, {}, [](const auto& each) { return each->used_at_; });
  watch->bytes_ = bytes;
  set_.push_back(watch);
  for (const auto& other : others) {
    if (sum > max_bytes_) {
      sum -= other->bytes_;
      other->drop();
    } else {
      set_.push_back(other);
    }
  }
}

void DirectoryWatch::set(const Session& session, const std::string& directory, Gone gone) {
  phase_ = Phase::requested;
  session_ = session;
  directory_ = directory;
  connection_ = session.connection();
  requested_at_ = used_at_ = Clock::now();
  gone_ = std::move(gone);
  session.async_get_data_and_watch(
      directory, asio::bind_executor(session.get_executor(), [weak = weak_from_this(), number = ++number_](
                                                                 error_code error, DataResult result, Watch watch) {
        const auto self = weak.lock();
        if (self && self->number_ == number) self->on_set(error, result.stat, std::move(watch));
      }));
}

void DirectoryWatch::on_set(error_code error, const Stat& directory, Watch watch) {
  const Gone gone = gone_;
  if (error) drop();
  if (error && error != Error::no_node && !is_retryable(error) && !is_session_lost(error))
    refused_until_ = Clock::now() + pause_after_refusal;
  if (error == Error::no_node) gone(ever);
  if (error) return;
  phase_ = Phase::set;
  czxid_ = directory.czxid;
  watch_ = std::move(watch);
  watch_.async_wait(asio::bind_executor(
      session_.get_executor(), [weak = weak_from_this(), number = number_](error_code ended, const WatchEvent& event) {
        const auto self = weak.lock();
        if (self && self->number_ == number) self->on_event(ended, event.type);
      }));
  gone(czxid_);
}

void DirectoryWatch::on_event(error_code ended, WatchEventType type) {
  const Gone gone = gone_;
  if (!ended && type != WatchEventType::node_deleted) return set(session_, directory_, gone);
  drop();
  if (!ended) gone(ever);
}

void DirectoryWatch::drop() {
  phase_ = Phase::none;
  ++number_;
  session_ = Session{};
  watch_ = Watch{};
  gone_ = nullptr;
}

bool DirectoryWatch::is_on(const Session& session) const {
  return session_ == session && connection_ == session.connection();
}

bool DirectoryWatch::is_set(const Session& session) const {
  if (phase_ == Phase::none || !is_on(session) || Clock::now() >= requested_at_ + longest_trust) return false;
  return phase_ == Phase::requested || watch_.is_set();
}

bool DirectoryWatch::proves(const Session& session, std::uint64_t connection, std::int64_t czxid) const {
  if (phase_ != Phase::set || !is_on(session) || connection != connection_ || !watch_.is_set()) return false;
  used_at_ = Clock::now();
  return czxid_ < czxid;  // a node that was made earlier was in an earlier directory
}

}  // namespace zklock
