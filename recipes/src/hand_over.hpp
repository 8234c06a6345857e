// A node of ours that goes where the next one is ours, too.
#pragma once

#include "siblings.hpp"

#include <zklock/detail/spawn.hpp>
#include <zklock/session.hpp>

#include <memory>
#include <string>

namespace zklock {

/// Deletes the node at `path` if the heir's is there, in one request; the heir is told whether it is. If that fails the
/// node is deleted all the same.
///
/// Where an operator has deleted the heir's node, the heir knows before our delete lets anybody else in, as long as the link
/// holds.
void hand_over_in_background(Session session, std::string path, std::shared_ptr<Sibling> heir);

/// The same, with the server's word on the delete: what remove_for_sure gives.
[[nodiscard]] Awaitable<error_code> hand_over_for_sure(Session session, std::string path,
                                                       std::shared_ptr<Sibling> heir);

}  // namespace zklock
