// A node of ours that goes where those who wait for it are ours, too.
#pragma once

#include "siblings.hpp"

#include <zklock/detail/spawn.hpp>
#include <zklock/session.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace zklock {

/// One, or readers behind a writer.
using Heirs = std::vector<std::shared_ptr<Sibling>>;

/// Deletes the node of `leaving` if those of its heirs are there, in one request; each heir is told whether its own is.
/// If that fails the node is deleted all the same. `removed` is told once what the delete has found.
///
/// Where an operator has deleted an heir's node, the heir knows before our delete lets anybody else in, as long as the
/// link holds. Of several such heirs the first knows it then, the others soon.
void hand_over_in_background(Session session, std::shared_ptr<Sibling> leaving, Heirs heirs,
                             std::function<void(error_code)> removed);

/// The same, but that the caller gets the server's word on the delete: what remove_for_sure gives.
[[nodiscard]] Awaitable<error_code> hand_over_for_sure(Session session, std::shared_ptr<Sibling> leaving, Heirs heirs);

}  // namespace zklock
