#include "room_watch.hpp"

#include "admission.hpp"
#include "count_data.hpp"

#include <zklock/recipe_kit/session_ops.hpp>

#include <utility>

namespace zklock {

RoomWatch::RoomWatch(Session session, const detail::SemaphoreCore& semaphore, std::string mutex)
    : session_{std::move(session)},
      semaphore_{semaphore},
      mutex_{std::move(mutex)},
      state_{std::make_shared<State>(session_.get_executor())} {}

void RoomWatch::follow(Watch& watch, Whose whose) const {
  watch.async_wait(
      asio::bind_executor(session_.get_executor(), [state = state_, whose](error_code error, const WatchEvent& event) {
        if (error == asio::error::operation_aborted) return;  // cancelled: something else has ended the wait
        if (whose == Whose::mutex && !error && event.type == WatchEventType::node_deleted) state->mutex_lost = true;
        state->changed.happen();
      }));
}

/// Sets one watch for all waits. It watches the node's children, of which there are none: that fires on deletion alone.
Awaitable<error_code> RoomWatch::watch_mutex() {
  if (mutex_watch_) co_return error_code{};
  auto [error, children, watch] = co_await session_.async_get_children_and_watch(mutex_, use_tuple);
  if (error == Error::no_node) state_->mutex_lost = true;
  if (error) co_return error;
  mutex_watch_.emplace(std::move(watch));
  follow(*mutex_watch_, Whose::mutex);
  co_return error_code{};
}

Awaitable<error_code> RoomWatch::wait(const std::vector<std::string>& own, std::int32_t permits) {
  std::optional<Watch> count_watch;
  if (semaphore_.count().is_shared()) {
    auto [error, read, watch] = co_await session_.async_get_data_and_watch(semaphore_.count().node, use_tuple);
    if (error == Error::no_node) co_return error_code{};
    if (is_retryable(error)) co_return co_await wait_connected(session_);
    if (error) co_return error;
    if (parse_count(read.data) != permits) co_return error_code{};
    count_watch.emplace(std::move(watch));
  }
  auto [error, listed, watch] = co_await session_.async_get_children_and_watch(semaphore_.leases()->path(), use_tuple);
  if (!error && admit(listed.names, own, permits) != Admission::full) co_return error_code{};
  if (!error) error = co_await watch_mutex();
  if (error == Error::no_node) co_return error_code{};
  if (is_retryable(error)) co_return co_await wait_connected(session_);
  if (error) co_return error;
  follow(watch, Whose::leases);
  if (count_watch) follow(*count_watch, Whose::count);
  if (!state_->mutex_lost) co_await state_->changed.wait();
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  const bool cancelled = cancellation.cancelled() != asio::cancellation_type::none;
  co_return cancelled ? make_error_code(asio::error::operation_aborted) : error_code{};
}

}  // namespace zklock
