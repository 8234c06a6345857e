// Flights about one node: what is done to it, and in the same flight a look at the result, with a watch.
#pragma once

#include <zklock/node_options.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/session.hpp>

#include <optional>
#include <string>

namespace zklock {

/// Which watch the look sets. Neither leaves a watch where there is no node.
enum class LookBy {
  children,  ///< of an ephemeral node: it has none, so the watch fires at its deletion alone
  data       ///< fires at its deletion and at each change of the data; not for children
};

/// What the server has said.
struct NodeLook {
  error_code error{};
  std::optional<Stat> stat{};         ///< empty: there is no node
  std::optional<std::string> data{};  ///< by data
  Watch watch{};
};

/// The outcome of the write, and the look behind it.
struct NodeFlight {
  error_code written{};
  NodeLook look{};
};

[[nodiscard]] Awaitable<NodeLook> look_at(Session session, std::string path, LookBy by);

/// Creates the node.
[[nodiscard]] Awaitable<NodeFlight> create_and_look(Session session, std::string path, std::string data,
                                                    NodeOptions options, LookBy by);

/// Replaces the node, if it has this version, by a new one, in one transaction: at no moment is there no node. Modes
/// with a time to live, which a transaction cannot have: deletes it and creates the new one, behind each other.
[[nodiscard]] Awaitable<NodeFlight> replace_and_look(Session session, std::string path, std::int32_t version,
                                                     std::string data, NodeOptions options, LookBy by);

}  // namespace zklock
