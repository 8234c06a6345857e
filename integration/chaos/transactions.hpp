// The servers' transaction logs, as they are in their files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace zklock::chaos {

/// The part of a transaction that concerns one node.
struct Change {
  enum class Kind { create, remove, set_data, check };
  Kind kind = Kind::check;
  std::string path{};
  std::string data{};
  bool is_ephemeral = false;

  friend bool operator==(const Change&, const Change&) = default;
};

struct ServerTransaction {
  std::int64_t zxid = 0;
  std::int64_t session = 0;
  std::int64_t at = 0;       ///< microseconds of the leader's clock
  std::int32_t request = 0;  ///< its number among those of the session's client; 0: a server's own
  bool closes_session = false;
  std::vector<Change> changes{};
};

/// The transactions of a file, up to its end or to the first incomplete one, as in the file of a killed server. Failed
/// transactions have no changes. Throws std::runtime_error for a file that is no transaction log.
///
/// The format is that of the release's FileTxnLog and zookeeper.jute.
[[nodiscard]] std::vector<ServerTransaction> read_transactions(const std::filesystem::path& file);

/// The committed transactions of the servers' logs, in the order of their numbers, each once.
///
/// A leader that was killed or cut off may have written some transactions that no other server has, at the end of its
/// epoch. They stay in its file if it takes a snapshot from its successor. A transaction is committed if two servers
/// have it, or if it comes before such a one in the same epoch: a server that was away has gaps.
[[nodiscard]] std::vector<ServerTransaction> merge_committed(const std::vector<std::vector<ServerTransaction>>& logs);

/// From the files "log.<server>.<zxid>" in the directory.
[[nodiscard]] std::vector<ServerTransaction> merge_transactions(const std::filesystem::path& directory);

}  // namespace zklock::chaos
