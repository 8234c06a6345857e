// What a Client's operations can be asked to do besides. Curator's words, as values that are filled step by step:
//
//   client.async_create("/jobs/7", data,
//                       CreateOptions{CreateMode::ephemeral}.creating_parents().with_protection(), ...)
//
// A step of a variable gives the variable, one of a temporary gives a value, which may be kept by reference.
#pragma once

#include <zklock/node_options.hpp>
#include <zklock/transaction.hpp>

#include <cstdint>
#include <optional>

namespace zklock {

/// How Client::async_create is to make a node.
class CreateOptions {
 public:
  enum class Parents { none, persistent, containers };

  CreateOptions() = default;
  CreateOptions(CreateMode mode) : node_{mode} {}              // NOLINT(*-explicit-*): most want nothing else
  CreateOptions(NodeOptions node) : node_{std::move(node)} {}  // NOLINT(*-explicit-*)

  /// What is missing on the way down is created, with the same ACL. Curator's creatingParentsIfNeeded.
  CreateOptions& creating_parents() & { return set(parents_, Parents::persistent); }
  CreateOptions creating_parents() && { return std::move(creating_parents()); }
  /// The same with containers, which the servers delete again once they are empty.
  CreateOptions& creating_parent_containers() & { return set(parents_, Parents::containers); }
  CreateOptions creating_parent_containers() && { return std::move(creating_parent_containers()); }
  /// The name gets a tag of its own, "_c_<uuid>-", by which the node is found again after a lost reply: needed for
  /// sequential nodes, whose name nobody can know. "/jobs/" becomes "/jobs/_c_<uuid>-0000000001".
  CreateOptions& with_protection() & { return set(protected_, true); }
  CreateOptions with_protection() && { return std::move(with_protection()); }
  /// If the node exists, its data are replaced, if they have this version. It may be made twice: see idempotent().
  CreateOptions& or_set_data(std::int32_t version = any_version) & { return set(set_version_, std::optional{version}); }
  CreateOptions or_set_data(std::int32_t version = any_version) && { return std::move(or_set_data(version)); }
  /// If the node exists, has these data and, where it is to be ephemeral, our session for an owner, that is as good:
  /// this call, an earlier one, or somebody else has done it. So it is tried again after a lost reply, and makes the
  /// node twice where somebody has deleted the first one meanwhile.
  CreateOptions& idempotent() & { return set(idempotent_, true); }
  CreateOptions idempotent() && { return std::move(idempotent()); }

  /// The data go through ClientConfig::codec: gzip, unless it says otherwise.
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

/// Whether data go through ClientConfig::codec on their way.
enum class Compression { off, on };

/// How Client::async_get_data is to read.
struct GetDataOptions {
  Compression compression = Compression::off;

  GetDataOptions& decompressed() & {
    compression = Compression::on;
    return *this;
  }
  GetDataOptions decompressed() && { return decompressed(); }
};

/// How Client::async_remove is to delete a node.
struct RemoveOptions {
  std::int32_t version = any_version;
  enum class Guarantee { none, background } guarantee = Guarantee::none;
  enum class Children { keep, remove } children = Children::keep;
  enum class Missing { is_an_error, is_fine } missing = Missing::is_an_error;

  RemoveOptions() = default;
  explicit RemoveOptions(std::int32_t only_version) : version{only_version} {}

  /// If it cannot be done now, it is tried again in the background for as long as the Client lives, whatever this call
  /// completes with, and also if it is cancelled.
  RemoveOptions& guaranteed() & {
    guarantee = Guarantee::background;
    return *this;
  }
  RemoveOptions guaranteed() && { return guaranteed(); }
  /// What is below goes first. Not at once: others may see a part of it gone.
  RemoveOptions& deleting_children() & {
    children = Children::remove;
    return *this;
  }
  RemoveOptions deleting_children() && { return deleting_children(); }
  /// A node that does not exist is no error.
  RemoveOptions& quietly() & {
    missing = Missing::is_fine;
    return *this;
  }
  RemoveOptions quietly() && { return quietly(); }
};

/// How Client::async_set_data is to replace a node's data.
struct SetDataOptions {
  std::int32_t version = any_version;
  /// If the node has these data, and the version that they would have given it, that is as good: this call, an earlier
  /// one, or somebody else has written them.
  enum class Idempotence { off, on } idempotence = Idempotence::off;
  Compression compression = Compression::off;

  SetDataOptions() = default;
  explicit SetDataOptions(std::int32_t only_version) : version{only_version} {}

  SetDataOptions& idempotent() & {
    idempotence = Idempotence::on;
    return *this;
  }
  SetDataOptions idempotent() && { return idempotent(); }
  /// The data go through ClientConfig::codec.
  SetDataOptions& compressed() & {
    compression = Compression::on;
    return *this;
  }
  SetDataOptions compressed() && { return compressed(); }
};

}  // namespace zklock
