#include "blocking_call.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/barriers/distributed_barrier.hpp>

namespace zklock {

using detail::Barrier;

namespace {

struct Closed {
  std::int64_t incarnation = 0;  // the node's czxid
  Watch removal;
};

/// Looks behind a sync, so that no barrier is overlooked that was closed before: no_node if it is open. The children
/// are watched, not the data: that fires on deletion, and leaves no watch where there is no node.
Awaitable<Result<Closed>> look(Session session, Barrier barrier) {
  session.async_sync(barrier->path(), asio::bind_executor(session.get_executor(), [](error_code) {}));
  auto [error, children, watch] = co_await session.async_get_children_and_watch(barrier->path(), use_tuple);
  if (error) co_return error;
  co_return Closed{children.stat.czxid, std::move(watch)};
}

Awaitable<error_code> wait_until_open(Barrier barrier, Limits limits) {
  const auto look_once = [&](const Session& session) { return look(session, barrier); };
  for (std::int64_t first = 0;;) {
    auto closed =
        co_await detail::retried<Closed>(barrier->client(), "wait", barrier->path(), limits.deadline, look_once);
    if (!closed && closed.error() != Error::no_node) co_return closed.error();
    if (!closed || (first != 0 && closed->incarnation != first)) co_return error_code{};
    if (limits.try_once) co_return make_error_code(Error::timed_out);
    first = closed->incarnation;
    const auto [ended, event] = co_await closed->removal.async_wait(use_tuple);
    if (ended && ended != Error::session_expired) co_return ended;
    if (!ended && event.type == WatchEventType::node_deleted) co_return error_code{};
  }
}

Awaitable<error_code> set(Barrier barrier, CreateMode mode) {
  if (mode != CreateMode::persistent && mode != CreateMode::ephemeral)
    co_return make_error_code(Error::invalid_create_mode);
  const auto options = CreateOptions{mode}.creating_parent_containers().idempotent();
  const auto [error, node] = co_await barrier->client().async_create(barrier->path(), "", options, use_tuple);
  if (error && error != Error::node_exists) co_return error;
  co_return error_code{};
}

Awaitable<error_code> remove(Barrier barrier) {
  const auto [error] = co_await barrier->client().async_remove(barrier->path(), RemoveOptions{}.quietly(), use_tuple);
  co_return error;
}

void spawn(const Barrier& barrier, const Limits& limits, detail::Handler<> handler, Awaitable<error_code> body) {
  spawn_operation(barrier->client().get_executor(), limits.deadline, std::move(handler), std::move(body), barrier,
                  limits.at_deadline);
}

}  // namespace

namespace detail {

void start_set_barrier(Barrier barrier, CreateMode mode, Handler<> handler) {
  spawn(barrier, {}, std::move(handler), set(barrier, mode));
}

void start_remove_barrier(Barrier barrier, Handler<> handler) {
  spawn(barrier, {}, std::move(handler), zklock::remove(barrier));
}

void start_wait_on_barrier(Barrier barrier, WaitPolicy wait, Handler<> handler) {
  const Limits limits = limits_of(wait, barrier->client());
  spawn(barrier, limits, std::move(handler), wait_until_open(barrier, limits));
}

}  // namespace detail

DistributedBarrier::DistributedBarrier(const ClientHandle& client, std::string path)
    : core_{std::make_shared<detail::RecipeCore>(client, std::move(path))} {
  validate_path(core_->path());
  if (core_->path() == "/")
    throw boost::system::system_error{Error::invalid_path, "a barrier at the root, which stays"};
}

void DistributedBarrier::set(CreateMode mode) const {
  detail::call_blocking(detail::existing(core_), "barrier", {}, [&](auto token) { async_set(mode, std::move(token)); });
}

void DistributedBarrier::remove() const {
  detail::call_blocking(detail::existing(core_), "barrier", {}, [&](auto token) { async_remove(std::move(token)); });
}

bool DistributedBarrier::wait(detail::WaitPolicy wait) const {
  return detail::call_blocking(detail::existing(core_), "barrier", wait,
                               [&](auto token) { initiate_wait(wait, std::move(token)); });
}

}  // namespace zklock
