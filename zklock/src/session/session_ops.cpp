#include "cleanup_trace.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/timer.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace zklock {

using namespace std::chrono_literals;

namespace {

/// For an operation whose outcome shows in the next one.
auto ignoring_result(const Session& session) {
  return asio::bind_executor(session.get_executor(), [](error_code, auto&&...) {});
}

}  // namespace

Awaitable<error_code> wait_connected(Session session) {
  SessionStateStream states = session.states();
  for (;;) {
    const auto [error, state] = co_await states.async_next(use_tuple);
    if (error) co_return error;
    if (is_final(state)) co_return error_of(state);
    if (state == SessionState::connected) co_return error_code{};
  }
}

Awaitable<void> wait_for_link(Session session) {
  if (session.state() != SessionState::connected) co_await wait_connected(session);
}

Awaitable<error_code> pause_before_retry(Session session) {
  if (session.state() == SessionState::connected) {
    Timer timer{session.get_executor(), 50ms};
    const auto [error] = co_await timer.async_wait(use_tuple);
    if (error) co_return error;
  }
  co_return co_await wait_connected(session);
}

/// One request is enough if others were answered some time ago. Otherwise a second request soon after it is needed, if
/// the session has just reconnected, or a later one (SessionRenewal would take longer). Slow servers cannot give a
/// third of T: after some rounds any remaining time is enough.
Awaitable<error_code> prove_alive(Session session) {
  constexpr int rounds = 4;
  const auto in_good_time = [&](int round) {
    const Clock::duration wanted = round <= rounds ? Clock::duration{session.timeout()} / 3 : Clock::duration{};
    return Clock::now() + wanted < session.valid_until();
  };
  for (int round = 0; !in_good_time(round); ++round) {
    if (round > 0) {
      Timer timer{session.get_executor(), round == 1 ? Clock::duration{75ms} : session.timeout() / 4 + 100ms};
      const auto [cancelled] = co_await timer.async_wait(use_tuple);
      if (cancelled) co_return cancelled;
    }
    auto [error] = co_await session.async_sync("/", use_tuple);
    if (is_retryable(error)) error = co_await wait_connected(session);
    if (error) co_return error;
  }
  co_return error_code{};
}

Awaitable<Result<std::vector<std::string>>> list_children(Session session, std::string path) {
  for (;;) {
    auto [error, listed] = co_await session.async_get_children(path, use_tuple);
    if (!error) co_return std::move(listed.names);
    if (is_retryable(error)) error = co_await pause_before_retry(session);
    if (error) co_return error;
  }
}

Awaitable<Result<std::vector<std::string>>> list_children_fresh(Session session, std::string path) {
  for (;;) {
    session.async_sync(path, ignoring_result(session));
    auto [error, listed] = co_await session.async_get_children(path, use_tuple);
    if (!error) co_return std::move(listed.names);
    if (is_retryable(error)) error = co_await pause_before_retry(session);
    if (error) co_return error;
  }
}

namespace {

/// Empty if the node does not exist.
Awaitable<Result<std::optional<Stat>>> read_stat(Session session, std::string path) {
  for (;;) {
    auto [error, stat] = co_await session.async_exists(path, use_tuple);
    if (!error) co_return stat;
    if (is_retryable(error)) error = co_await pause_before_retry(session);
    if (error) co_return error;
  }
}

/// For the create of a directory that may be there: notes the last reason of several that is its own, and not that the
/// directory above is missing. Where an ancestor is closed, even one that is there seems to be refused.
auto noting_error(const Session& session, std::shared_ptr<error_code> last) {
  return asio::bind_executor(session.get_executor(), [last = std::move(last)](error_code error, auto&&...) {
    if (error && error != Error::node_exists && error != Error::no_node) *last = error;
  });
}

}  // namespace

Awaitable<error_code> create_path(Session session, std::string path, NodeOptions options) {
  const Session root = session.without_prefix();
  path = session.full_path(path);
  for (;;) {
    // Of an ancestor that cannot be made the server says only to its own create why.
    const auto ancestors_error = std::make_shared<error_code>();
    for (auto slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      std::string ancestor = path.substr(0, slash);
      root.async_create(std::move(ancestor), std::string{}, options, noting_error(session, ancestors_error));
    }
    auto [error, created] = co_await root.async_create(path, std::string{}, options, use_tuple);
    if (error == Error::no_node && *ancestors_error) error = *ancestors_error;
    if (!error || error == Error::node_exists) co_return error_code{};
    if (error == Error::no_auth) {  // the server checks the parent's ACL first
      const auto stat = co_await read_stat(root, path);
      // Servers from 3.8.4 and 3.9.2 on refuse to tell of a node that may not be read, and of no other (ZOOKEEPER-2590).
      const bool is_there = stat ? stat->has_value() : stat.error() == Error::no_auth;
      co_return is_there ? error_code{} : error;
    }
    if (is_retryable(error)) error = co_await pause_before_retry(session);
    if (error) co_return error;
  }
}

Awaitable<error_code> create_containers(Session session, std::string path) {
  return create_path(std::move(session), std::move(path), NodeOptions{CreateMode::container});
}

namespace {

/// `before`: what may have become of an earlier try.
Awaitable<error_code> remove_in_the_end(Session session, std::string path, Outcome before) {
  detail::CleanupTrace trace;
  if (before == Outcome::ambiguous || session.state() != SessionState::connected) trace.begin(session, path);
  co_await wait_for_link(session);
  for (;;) {
    auto [error] = co_await session.async_remove(path, use_tuple);
    const bool is_gone = !error || error == Error::no_node;
    if (is_retryable(error)) {
      if (outcome_of(error) == Outcome::ambiguous) before = Outcome::ambiguous;
      trace.begin(session, path);
      error = co_await pause_before_retry(session);
      if (!error) continue;
    }
    trace.end(is_gone ? error_code{} : error);
    if (is_gone && before == Outcome::ambiguous) error = {};
    co_return error;
  }
}

}  // namespace

Awaitable<error_code> remove_guaranteed(Session session, std::string path) {
  return remove_in_the_end(std::move(session), std::move(path), Outcome::not_applied);
}

namespace {

Awaitable<Result<std::vector<std::string>>> find_paths(Session session, ProtectedPath path) {
  const error_code connected = co_await wait_connected(session);
  if (connected) co_return connected;
  std::vector<std::string> found;
  const auto listed = co_await list_children_fresh(session, path.directory());
  if (!listed && listed.error() == Error::no_node) co_return found;
  if (!listed) co_return listed.error();
  for (const std::string& child : *listed)
    if (path.names(child)) found.push_back(join_path(path.directory(), child));
  co_return found;
}

}  // namespace

Awaitable<Result<std::vector<CreateResult>>> find_nodes(Session session, ProtectedPath path) {
  auto paths = co_await find_paths(session, std::move(path));
  if (!paths) co_return paths.error();
  std::vector<CreateResult> found;
  for (std::string& node : *paths) {
    const auto stat = co_await read_stat(session, node);
    if (!stat) co_return stat.error();
    if (*stat) found.push_back({std::move(node), **stat});
  }
  co_return found;
}

Awaitable<Result<CreateResult>> find_own_node(Session session, ProtectedPath path) {
  auto found = co_await find_nodes(session, std::move(path));
  if (!found) co_return found.error();
  for (CreateResult& node : *found)
    if (node.stat.ephemeral_owner == session.id()) co_return std::move(node);
  co_return CreateResult{};
}

Awaitable<error_code> find_and_remove(Session session, ProtectedPath path) {
  detail::CleanupTrace trace;
  trace.begin(session, path.directory());
  const auto found = co_await find_paths(session, std::move(path));
  if (!found) trace.end(found.error());
  if (!found) co_return found.error();
  for (const std::string& node : *found)
    if (const error_code error = co_await remove_guaranteed(session, node); error && error != Error::no_node) {
      trace.end(error);
      co_return error;
    }
  trace.end({});
  co_return error_code{};
}

/// Makes the first try without a coroutine, since a coroutine would start later.
void remove_in_background(Session session, std::string path, std::function<void(error_code)> told, Outcome before) {
  auto tried = [session, path, told = std::move(told), before](error_code error) {
    if (is_retryable(error)) {
      const Outcome outcome = before == Outcome::ambiguous ? before : outcome_of(error);
      return spawn_background(session.get_executor(), remove_in_the_end(session, path, outcome),
                              [told](error_code removed) {
                                if (told) told(removed);
                              });
    }
    if (error == Error::no_node && before == Outcome::ambiguous) error = {};
    if (told) told(error);
  };
  session.async_remove(path, asio::bind_executor(session.get_executor(), std::move(tried)));
}

}  // namespace zklock
