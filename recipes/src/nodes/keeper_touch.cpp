// A TTL node's child, which is written so that the node stays.
#include "keeper.hpp"

#include <zklock/path.hpp>

namespace zklock::detail {

/// Writes the child every half of the time to live, and first after a half: as Curator does. It is not created before
/// the node is there; an error waits for the next turn, as the client has tried by itself already.
Awaitable<void> Keeper::touch(std::shared_ptr<Keeper> self) {
  const auto ttl = self->options_.node.ttl;
  const std::string child = join_path(self->path(), self->options_.touch);
  for (auto next = Clock::now() + ttl / 2;; next = Clock::now() + ttl / 2) {
    while (Clock::now() < next && !self->has_ended()) co_await self->touching_.wait_until(next);
    if (self->has_ended()) co_return;
    const auto [error, stat] = co_await self->client().async_set_data(child, "", use_tuple);
    if (error != Error::no_node || self->has_ended()) continue;
    NodeOptions node{CreateMode::persistent_ttl, ttl};
    node.acl = self->options_.node.acl;
    auto options = CreateOptions{std::move(node)}.or_set_data();
    co_await self->client().async_create(child, "", std::move(options), use_tuple);
  }
}

bool Keeper::has_ended() const { return closing_ || state().phase == NodePhase::ended; }

}  // namespace zklock::detail
