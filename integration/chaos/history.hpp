// The locks by the servers' transactions: which node was in which wait queue, and which was first, at every
// transaction.
#pragma once

#include "transactions.hpp"

#include <zklock/recipes/locks/lock_node.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zklock::chaos {

/// A node in a lock's wait queue, or among a semaphore's leases, and its life. Where a client keeps a lock and confirms
/// each grant by a write, the node ends with the write, and another one begins: each grant has one of its own.
struct Node {
  enum class End { none, by_owner, with_session, by_another };

  std::string path{};
  std::string directory{};       ///< its parent
  std::int64_t incarnation = 0;  ///< the transaction that made the parent: numbers begin again with each
  LockNode place{};
  std::string client{};  ///< by the node's data
  std::int64_t session = 0;
  std::int64_t created = 0;  ///< the transaction that made it: the fencing token
  std::int64_t created_at = 0;
  std::int64_t removed = 0;
  std::int64_t removed_at = 0;
  End end = End::none;
  std::int64_t remover = 0;           ///< a session
  bool came_late = false;             ///< carried out after a later request of its session
  bool is_baseless = false;           ///< a reader's, beside a writer's node that was gone by then: it is never granted
  std::int64_t became_first_at = -1;  ///< when no node blocked it any more, or a permit was free; -1: never
  std::vector<std::int64_t> behind{};  ///< all nodes that have blocked it, by their tokens
};

/// A transaction by a lock's holder, behind the guard of its lease.
struct Mark {
  std::int64_t zxid = 0;
  std::int64_t token = 0;
  /// The nodes that should have blocked it, by tokens: those ahead in the queue; of a permit, the other marked ones.
  std::vector<std::int64_t> against{};
};

struct SessionEnd {
  std::int64_t at = 0;
  bool is_by_servers = false;  ///< its timeout had passed
};

struct DataWrite {
  std::int64_t zxid = 0;
  std::int64_t token = 0;
  std::int64_t session = 0;
  std::string before{};
  std::string after{};
};

class History {
 public:
  History() = default;
  explicit History(const std::vector<ServerTransaction>& transactions);

  [[nodiscard]] const std::map<std::int64_t, Node>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] const Node* find(std::int64_t token) const;
  /// The nodes that blocked it at that time, by their tokens.
  [[nodiscard]] std::vector<std::int64_t> blocked_by(const Node& node, std::int64_t at) const;
  /// The reader's node beside that writer's node, whose token it has. Null when there is none.
  [[nodiscard]] const Node* beside(std::int64_t writer) const;
  [[nodiscard]] const std::vector<Mark>& marks() const noexcept { return marks_; }
  [[nodiscard]] const std::vector<DataWrite>& writes() const noexcept { return writes_; }
  [[nodiscard]] const std::map<std::int64_t, SessionEnd>& ended_sessions() const noexcept { return ended_sessions_; }
  /// Pairs of nodes that existed at once though one attempt made both. Excepted are pairs of which the servers carried
  /// out the create of the other node after a later request of its session (docs/reliability.md, what it has found): no
  /// client could expect that.
  [[nodiscard]] const std::vector<std::pair<std::int64_t, std::int64_t>>& twins() const noexcept { return twins_; }

 private:
  struct Live {
    std::int64_t token;
    bool is_marked = false;
    std::string data;
  };

  void apply(const ServerTransaction& transaction);
  void create(const ServerTransaction& transaction, const Change& change, bool came_late);
  /// Whether a later request of its session has been carried out before it. To be asked once of each, in their order.
  [[nodiscard]] bool is_out_of_order(const ServerTransaction& transaction);
  void remove(const ServerTransaction& transaction, const std::string& path);
  void set_data(const ServerTransaction& transaction, const Change& change);
  void mark(const ServerTransaction& transaction, const std::string& path);
  void queue(Node& made);
  void note_first(const std::string& directory, std::int64_t at);
  void note_permits(const std::string& directory, const Node* made, std::int64_t at);
  [[nodiscard]] std::vector<std::int64_t> ahead_of(const Node& node) const;

  std::map<std::int64_t, Node> nodes_;
  std::map<std::string, std::map<std::string, Live>> queues_;  // by the parent's path, then by the node's
  std::map<std::string, std::int64_t> parents_;
  std::map<std::int64_t, std::vector<std::string>> ephemerals_;
  std::map<std::int64_t, std::int32_t> last_requests_;
  std::vector<Mark> marks_;
  std::vector<DataWrite> writes_;
  std::map<std::int64_t, SessionEnd> ended_sessions_;
  std::vector<std::pair<std::int64_t, std::int64_t>> twins_;
};

}  // namespace zklock::chaos
