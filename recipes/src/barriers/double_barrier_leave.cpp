#include "double_barrier_member.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/flight.hpp>
#include <zklock/recipe_kit/session_ops.hpp>

#include <algorithm>
#include <vector>

namespace zklock::detail {

namespace {

using Names = std::vector<std::string>;

struct RoundSeen {
  std::optional<Stat> ready;
  Names members;
};

/// Reads ready and lists, in one flight.
Awaitable<Result<RoundSeen>> look_at_round(const MemberNode& own) {
  for (;;) {
    const Flight<std::optional<Stat>> reading{own.session.get_executor(), 1};
    own.session.async_exists(own.barrier->ready(), reading.handler(0));
    auto [error, listed] = co_await own.session.async_get_children(own.barrier->path(), use_tuple);
    const error_code cancelled = co_await reading.wait();
    const auto& [unread, ready] = reading.outcomes().front();
    if (!error) error = cancelled ? cancelled : unread;
    if (error == Error::no_node) co_return RoundSeen{};  // an operator has deleted all of it
    if (!error) co_return RoundSeen{ready, members_of(std::move(listed.names))};
    if (is_retryable(error)) error = co_await pause_before_retry(own.session);
    if (error) co_return error;
  }
}

/// Watches the first of these that is of the round, if one is. Its children are watched, not its data: that leaves no
/// watch where there is no node.
Awaitable<Result<std::optional<Watch>>> watch_first(const BarrierMember& member, Names names) {
  const MemberNode& own = member.node();
  for (auto name = names.begin(); name != names.end();) {
    auto [error, read, watch] =
        co_await own.session.async_get_children_and_watch(join_path(own.barrier->path(), *name), use_tuple);
    if (!error && is_of_round(read.stat, member.round())) co_return std::move(watch);
    if (!error || error == Error::no_node) {
      ++name;
      continue;
    }
    if (is_retryable(error)) error = co_await pause_before_retry(own.session);
    if (error) co_return error;
  }
  co_return std::nullopt;
}

/// Alone: deletes the node, and ready with it if it is the round's. Error::bad_version: ready has changed.
Awaitable<error_code> remove_own_and_ready(const BarrierMember& member, std::optional<Stat> ready) {
  const MemberNode& own = member.node();
  for (;;) {
    Transaction removal;
    removal.remove(own.path);
    if (is_of_round(ready, member.round())) removal.remove(own.barrier->ready(), ready->version);
    auto [error, results] = co_await own.session.async_commit(std::move(removal), use_tuple);
    if (error == Error::no_node && results.front().error == Error::no_node) error = {};  // by an earlier try
    if (error == Error::no_node) error = make_error_code(Error::bad_version);
    if (!error || error == Error::bad_version) co_return error;
    const bool has_children = error == Error::not_empty && ready;  // an operator's: ready stays, left over
    if (has_children) ready.reset();
    if (is_retryable(error)) error = co_await pause_before_retry(own.session);
    if (error && !has_children) co_return error;
  }
}

}  // namespace

/// All but the first of the round delete their nodes, and wait for the first one. The first one waits for the last one,
/// and deletes its own node when it is alone: so nobody is out before all are.
Awaitable<error_code> leave(std::shared_ptr<BarrierMember> member) {
  const MemberNode& own = member->node();
  for (;;) {
    auto seen = co_await look_at_round(own);
    if (!seen) co_return seen.error();
    Names& members = seen->members;
    const auto place = std::ranges::find(members, node_name(own.path));
    const bool stands = place != members.end();
    auto awaited = co_await watch_first(*member, Names(members.begin(), place));
    if (!awaited) co_return awaited.error();
    if (*awaited && stands) {
      const error_code error = co_await remove_guaranteed(own.session, own.path);
      if (error && error != Error::no_node) co_return error;
    } else if (stands) {
      awaited = co_await watch_first(*member, Names(members.rbegin(), std::reverse_iterator{place + 1}));
      if (!awaited) co_return awaited.error();
    }
    if (*awaited) {
      const auto [ended, event] = co_await (*awaited)->async_wait(use_tuple);
      if (ended) co_return ended;
      continue;
    }
    if (!stands) break;
    const error_code error = co_await remove_own_and_ready(*member, seen->ready);
    if (!error) break;
    if (error != Error::bad_version) co_return error;
  }
  expect_late_node(own);
  co_return error_code{};
}

}  // namespace zklock::detail
