// Options of a Client's operations. The names are Curator's; the options are values that are filled step by step:
//
//   client.async_create("/jobs/7", data,
//                       CreateOptions{CreateMode::ephemeral}.creating_parents().with_protection(), ...)
//
// A step on a variable returns the variable. A step on a temporary returns a value, which may be bound to a reference.
#pragma once

#include <zklock/node_options.hpp>
#include <zklock/transaction.hpp>

#include <cstdint>
#include <optional>

namespace zklock {

/// How Client::async_create creates a node.
class CreateOptions {
 public:
  enum class Parents { none, persistent, containers };

  CreateOptions() = default;
  CreateOptions(CreateMode mode) : node_{mode} {}              // NOLINT(*-explicit-*): most want nothing else
  CreateOptions(NodeOptions node) : node_{std::move(node)} {}  // NOLINT(*-explicit-*)

  /// Creates the missing parents, with the same ACL. Curator's creatingParentsIfNeeded.
  CreateOptions& creating_parents() & { return set(parents_, Parents::persistent); }
  CreateOptions creating_parents() && { return std::move(creating_parents()); }
  /// The same with containers, which the servers delete once they are empty.
  CreateOptions& creating_parent_containers() & { return set(parents_, Parents::containers); }
  CreateOptions creating_parent_containers() && { return std::move(creating_parent_containers()); }
  /// Adds a unique tag, "_c_<uuid>-", to the name, by which the node is found after a lost reply. Sequential nodes need
  /// it, since the client cannot know their names. "/jobs/" becomes "/jobs/_c_<uuid>-0000000001".
  CreateOptions& with_protection() & { return set(protected_, true); }
  CreateOptions with_protection() && { return std::move(with_protection()); }
  /// If the node exists, replaces its data, if they have this version. The node may be created twice: see idempotent().
  CreateOptions& or_set_data(std::int32_t version = any_version) & { return set(set_version_, std::optional{version}); }
  CreateOptions or_set_data(std::int32_t version = any_version) && { return std::move(or_set_data(version)); }
  /// An existing node counts as success if it has these data and, for an ephemeral node, this session as its owner:
  /// this call, an earlier one or another client has created it. So the create is repeated after a lost reply. It
  /// creates the node twice if another client has deleted the first one meanwhile.
  CreateOptions& idempotent() & { return set(idempotent_, true); }
  CreateOptions idempotent() && { return std::move(idempotent()); }

  /// Encodes the data with ClientConfig::codec: gzip by default.
  CreateOptions& compressed() & { return set(compressed_, true); }
  CreateOptions compressed() && { return std::move(compressed()); }

  [[nodiscard]] const NodeOptions& node() const noexcept { return node_; }
  [[nodiscard]] Parents parents() const noexcept { return parents_; }
  [[nodiscard]] bool is_protected() const noexcept { return protected_; }
  [[nodiscard]] std::optional<std::int32_t> set_version() const noexcept { return set_version_; }
  [[nodiscard]] bool is_idempotent() const noexcept { return idempotent_; }
  [[nodiscard]] bool is_compressed() const noexcept { return compressed_; }

 private:
  template <class T>
  CreateOptions& set(T& member, T value) {
    member = value;
    return *this;
  }

  NodeOptions node_;
  Parents parents_ = Parents::none;
  bool protected_ = false;
  std::optional<std::int32_t> set_version_;
  bool idempotent_ = false;
  bool compressed_ = false;
};

/// Whether data are encoded and decoded with ClientConfig::codec.
enum class Compression { off, on };

/// How Client::async_get_data reads.
struct GetDataOptions {
  Compression compression = Compression::off;

  GetDataOptions& decompressed() & {
    compression = Compression::on;
    return *this;
  }
  GetDataOptions decompressed() && { return decompressed(); }
};

/// How Client::async_remove deletes a node.
struct RemoveOptions {
  std::int32_t version = any_version;
  enum class Guarantee { none, background } guarantee = Guarantee::none;
  enum class Children { keep, remove } children = Children::keep;
  enum class Missing { is_an_error, is_fine } missing = Missing::is_an_error;

  RemoveOptions() = default;
  explicit RemoveOptions(std::int32_t only_version) : version{only_version} {}

  /// If the delete fails now, it is repeated in the background as long as the Client exists, whatever this call
  /// completes with, and also if the call is cancelled.
  RemoveOptions& guaranteed() & {
    guarantee = Guarantee::background;
    return *this;
  }
  RemoveOptions guaranteed() && { return guaranteed(); }
  /// Deletes the descendants first. This is not atomic: other clients may see a part of them gone. If they delete the
  /// rest, and the node itself, meanwhile, that is no error: of two that delete a tree both may succeed.
  RemoveOptions& deleting_children() & {
    children = Children::remove;
    return *this;
  }
  RemoveOptions deleting_children() && { return deleting_children(); }
  /// A missing node is not an error.
  RemoveOptions& quietly() & {
    missing = Missing::is_fine;
    return *this;
  }
  RemoveOptions quietly() && { return quietly(); }
};

/// How Client::async_set_data replaces a node's data.
struct SetDataOptions {
  std::int32_t version = any_version;
  /// The call succeeds if the node already has these data and the version that this write would have given it: this
  /// call, an earlier one or another client has written them.
  enum class Idempotence { off, on } idempotence = Idempotence::off;
  Compression compression = Compression::off;

  SetDataOptions() = default;
  explicit SetDataOptions(std::int32_t only_version) : version{only_version} {}

  SetDataOptions& idempotent() & {
    idempotence = Idempotence::on;
    return *this;
  }
  SetDataOptions idempotent() && { return idempotent(); }
  /// Encodes the data with ClientConfig::codec.
  SetDataOptions& compressed() & {
    compression = Compression::on;
    return *this;
  }
  SetDataOptions compressed() && { return compressed(); }
};

}  // namespace zklock
