// Operations on one session that survive lost links; recipes are built on them.
#pragma once

#include <zklock/recipe_kit/protected_path.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/session.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {

/// Waits until the session is connected again; returns the error that ended it, if it has ended.
[[nodiscard]] Awaitable<error_code> wait_connected(Session session);

/// The same, only if it is not connected. Without a link a request is not sent, and fails at once. A delete waits
/// first: else that would count as a try, and a node that others have deleted would seem to be gone by it.
[[nodiscard]] Awaitable<void> wait_for_link(Session session);

/// After a retryable error: waits for the link, or for a moment if the link is up (a server that throttles).
[[nodiscard]] Awaitable<error_code> pause_before_retry(Session session);

/// Waits until the session is certainly alive. That is at once if its validity is proven for a third of its timeout to
/// come; otherwise as soon as a server has answered. Returns the error that ended the session, if it has ended.
[[nodiscard]] Awaitable<error_code> prove_alive(Session session);

/// Lists the names of the children, however often the link is lost.
[[nodiscard]] Awaitable<Result<std::vector<std::string>>> list_children(Session session, std::string path);

/// Like list_children, but no older than this call: a sync precedes the list in the same flight.
[[nodiscard]] Awaitable<Result<std::vector<std::string>>> list_children_fresh(Session session, std::string path);

/// Creates `path` and its missing parents, those of chroot and namespace too, all in one flight.
[[nodiscard]] Awaitable<error_code> create_path(Session session, std::string path, NodeOptions options);

/// The same, with containers.
[[nodiscard]] Awaitable<error_code> create_containers(Session session, std::string path);

/// Deletes one of the client's own nodes, however often the link is lost. Success: this call has deleted it. no_node:
/// it was gone before. Otherwise the error that ended the session.
[[nodiscard]] Awaitable<error_code> remove_guaranteed(Session session, std::string path);

/// Finds the nodes of that name after a create with an ambiguous outcome: all nodes that the client's sessions have
/// created for it. There are several if a session was lost meanwhile. If there is none of this session, none will come:
/// the sync waits for what was under way [F16b].
[[nodiscard]] Awaitable<Result<std::vector<CreateResult>>> find_nodes(Session session, ProtectedPath path);
/// Returns the one of them that is this session's own and ephemeral; an empty path if there is none.
[[nodiscard]] Awaitable<Result<CreateResult>> find_own_node(Session session, ProtectedPath path);
/// Deletes them, whatever session owns them.
[[nodiscard]] Awaitable<error_code> find_and_remove(Session session, ProtectedPath path);

/// Deletes the node in the background, beginning within this call, until it is gone or the session is over. `tried`
/// is called on the session's executor with the outcome of the first try.
void remove_in_background(Session session, std::string path, std::function<void(error_code)> tried = nullptr);

}  // namespace zklock
