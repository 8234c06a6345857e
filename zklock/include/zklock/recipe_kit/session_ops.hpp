// Steps on one session that survive lost links, for the recipes to build on.
#pragma once

#include <zklock/detail/protected_path.hpp>
#include <zklock/detail/spawn.hpp>
#include <zklock/session.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {

/// Waits until the session is connected again; the error that ended it, if it has ended.
[[nodiscard]] Awaitable<error_code> wait_connected(Session session);

/// The same, only if it is not connected. What is sent without a link fails as if it might have been carried out; who
/// waits first is in doubt only when the link is lost meanwhile.
[[nodiscard]] Awaitable<void> wait_for_link(Session session);

/// After a failure that may pass: waits for the link, or a moment if the link is fine (a server that throttles).
[[nodiscard]] Awaitable<error_code> pause_before_retry(Session session);

/// Waits until the session is certainly alive: at once if that is proven for a third of its timeout to come, or else as
/// soon as a server has answered. Its end, if it has ended.
[[nodiscard]] Awaitable<error_code> prove_alive(Session session);

/// The names of the children, however often the link is lost.
[[nodiscard]] Awaitable<Result<std::vector<std::string>>> list_children(Session session, std::string path);

/// As list_children, no older than this call: a sync goes ahead of the list in the same flight.
[[nodiscard]] Awaitable<Result<std::vector<std::string>>> list_children_fresh(Session session, std::string path);

/// Creates the missing nodes on the way down to `path`, those of chroot and namespace too, and `path`; all in one
/// flight.
[[nodiscard]] Awaitable<error_code> create_path(Session session, std::string path, NodeOptions options);

/// The same, as containers.
[[nodiscard]] Awaitable<error_code> create_containers(Session session, std::string path);

/// Deletes a node of ours, however often the link is lost: success once it is gone by us, no_node if it was gone
/// before, or the error that ended the session.
[[nodiscard]] Awaitable<error_code> remove_for_sure(Session session, std::string path);

/// Finds the nodes of that name after a create whose outcome is unknown: each that one of our sessions has made, which
/// are several where one of them was lost. If there is none of this session, then there will be none: the sync waits for
/// what was under way (docs/faults.md 16b).
[[nodiscard]] Awaitable<Result<std::vector<CreateResult>>> find_nodes(Session session, ProtectedPath path);
/// The one among them that is this session's own, and ephemeral; an empty path if there is none.
[[nodiscard]] Awaitable<Result<CreateResult>> find_own_node(Session session, ProtectedPath path);
/// Deletes them, whosever they are.
[[nodiscard]] Awaitable<error_code> find_and_remove(Session session, ProtectedPath path);

/// Deletes the node in the background, beginning within this call, until it is gone or the session is over. `told` is
/// called on the session's executor with the outcome of the first try.
void remove_in_background(Session session, std::string path, std::function<void(error_code)> told = nullptr);

}  // namespace zklock
