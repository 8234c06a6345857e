// Several changes that are all done or not at all.
#pragma once

#include <zklock/acl.hpp>
#include <zklock/create_mode.hpp>
#include <zklock/error.hpp>
#include <zklock/stat.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zklock {

/// Matches every version.
inline constexpr std::int32_t any_version = -1;

/// The operations of async_commit, in this order. A value; it is filled step by step:
///
///   Transaction transfer;
///   transfer.check(lease.node_path())
///       .set_data("/accounts/a", "90", a.version)
///       .set_data("/accounts/b", "110", b.version);
///
/// A transaction cannot create containers and nodes with a time to live: the C client cannot read the reply.
class Transaction {
 public:
  enum class Kind { create, remove, set_data, check };

  struct Operation {
    Kind kind = Kind::check;
    std::string path;
    std::string data;
    CreateMode mode = CreateMode::persistent;
    std::optional<Acl> acl;
    std::int32_t version = any_version;
  };

  Transaction& add(Operation operation) & {
    operations_.push_back(std::move(operation));
    return *this;
  }
  Transaction& create(std::string path, std::string data, CreateMode mode = CreateMode::persistent) & {
    return add({Kind::create, std::move(path), std::move(data), mode, std::nullopt, any_version});
  }
  Transaction& create(std::string path, std::string data, CreateMode mode, Acl acl) & {
    return add({Kind::create, std::move(path), std::move(data), mode, std::move(acl), any_version});
  }
  Transaction& remove(std::string path, std::int32_t version = any_version) & {
    return add({Kind::remove, std::move(path), {}, CreateMode::persistent, std::nullopt, version});
  }
  Transaction& set_data(std::string path, std::string data, std::int32_t version = any_version) & {
    return add({Kind::set_data, std::move(path), std::move(data), CreateMode::persistent, std::nullopt, version});
  }
  /// Requires that the node exists and has this version.
  Transaction& check(std::string path, std::int32_t version = any_version) & {
    return add({Kind::check, std::move(path), {}, CreateMode::persistent, std::nullopt, version});
  }

  // On a temporary: returns a value, which may be bound to a reference.
  Transaction create(std::string path, std::string data, CreateMode mode = CreateMode::persistent) && {
    return std::move(create(std::move(path), std::move(data), mode));
  }
  Transaction create(std::string path, std::string data, CreateMode mode, Acl acl) && {
    return std::move(create(std::move(path), std::move(data), mode, std::move(acl)));
  }
  Transaction remove(std::string path, std::int32_t version = any_version) && {
    return std::move(remove(std::move(path), version));
  }
  Transaction set_data(std::string path, std::string data, std::int32_t version = any_version) && {
    return std::move(set_data(std::move(path), std::move(data), version));
  }
  Transaction check(std::string path, std::int32_t version = any_version) && {
    return std::move(check(std::move(path), version));
  }

  [[nodiscard]] const std::vector<Operation>& operations() const noexcept { return operations_; }

 private:
  std::vector<Operation> operations_;
};

/// The result of one operation of a transaction.
struct TransactionResult {
  /// Success; or the operation's own error, if it is the one that failed; or Error::rolled_back, if another one failed.
  error_code error;
  std::string path;  ///< after a create: with the server's digits, if it was sequential
  Stat stat;         ///< after a set_data
};

}  // namespace zklock
