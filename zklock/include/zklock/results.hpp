// The results of operations.
#pragma once

#include <zklock/acl.hpp>
#include <zklock/stat.hpp>
#include <zklock/transaction.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace zklock {

/// The credentials of a session at the servers. A client that has both values can take the session over or end it.
struct SessionCredentials {
  std::int64_t id = 0;
  std::array<char, 16> password{};
};

struct CreateResult {
  std::string path;  ///< with the server's digits, if it was sequential
  Stat stat;
};

struct DataResult {
  std::string data;
  Stat stat;
};

struct ChildrenResult {
  std::vector<std::string> names;  ///< in no particular order
  Stat stat;                       ///< the parent's
};

struct AclResult {
  Acl acl;
  Stat stat;
};

using TransactionResults = std::vector<TransactionResult>;

}  // namespace zklock
