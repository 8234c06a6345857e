// The name of a node that is kept: the server gives it, if it is a sequential one.
#pragma once

#include "keep_options.hpp"
#include "keep_step.hpp"

#include <zklock/client.hpp>
#include <zklock/recipe_kit/protected_path.hpp>
#include <zklock/recipe_kit/spawn.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace zklock::detail {

/// Finds the name once; then it stays. A create whose reply was lost is not repeated before its node was searched for:
/// by its tag, if it is protected, or else by its owner and its data, among the nodes that no other object of this
/// client has.
///
/// Threads: the client's serial executor.
class NodeName {
 public:
  NodeName(ClientHandle client, std::string path, KeepOptions options);

  [[nodiscard]] bool is_known() const noexcept { return !node_path_.empty(); }
  /// Empty until it is known.
  [[nodiscard]] const std::string& node_path() const noexcept { return node_path_; }
  /// The czxid of the first node; 0 if it was found after a lost reply.
  [[nodiscard]] std::int64_t created() const noexcept { return created_; }
  /// How many creates were sent.
  [[nodiscard]] int creates() const noexcept { return creates_; }
  /// A create may have been carried out, and its node's name is not known.
  [[nodiscard]] bool may_exist() const noexcept { return may_exist_; }

  /// Creates the first node, or finds the one that an earlier try has created. Afterwards the name is known, or there
  /// is an error.
  [[nodiscard]] Awaitable<error_code> create(Session session, std::string data, const OwnSessions& sessions);
  /// Finds the node that an earlier try may have created. Afterwards the name is known, or there is no such node, or
  /// there is an error.
  [[nodiscard]] Awaitable<error_code> find(Session session, const OwnSessions& sessions);
  /// Deletes what this session's creates have made, if no object has it: by its tag, or else by its owner and its data.
  [[nodiscard]] Awaitable<void> remove_late(Session session, std::string data);

 private:
  /// Of those with these data.
  [[nodiscard]] Awaitable<Result<std::string>> find_unprotected(Session session, const OwnSessions& sessions,
                                                                std::string data) const;

  ClientHandle client_;
  std::string path_;
  KeepOptions options_;
  std::optional<ProtectedPath> protected_;
  std::string node_path_;
  std::string sent_;  // the data of the create
  std::int64_t created_ = 0;
  int creates_ = 0;
  bool may_exist_ = false;
};

}  // namespace zklock::detail
