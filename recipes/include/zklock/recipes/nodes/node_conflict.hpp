// What happens if the path of a node is taken.
#pragma once

namespace zklock {

/// What an object that keeps a node does if another client has a node at its path.
///
/// A node of an earlier session of the same client is not foreign: it is replaced, in one transaction. A process that
/// was started anew is another client: the node of the process before it is foreign until the servers end its session.
enum class NodeConflict {
  wait,      ///< waits until the other node is deleted, and creates its own then
  fail,      ///< gives up, with Error::name_taken
  take_over  ///< replaces the other node, once a session; if that node comes again, it waits
};

}  // namespace zklock
