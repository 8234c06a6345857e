// The servers' transaction logs, as they stand in their files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace zklock::chaos {

/// One node's share of a transaction.
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

/// The transactions of a file, up to its end or to the first that is incomplete, as it is in the file of a killed
/// server. Those that failed have no changes. Throws std::runtime_error for what is no transaction log.
///
/// The format is that of the release's FileTxnLog and zookeeper.jute.
[[nodiscard]] std::vector<ServerTransaction> read_transactions(const std::filesystem::path& file);

/// Of the servers' logs those transactions that were committed, in the order of their numbers, each once.
///
/// A leader that was killed or cut off may have written some that nobody else has, at the end of its epoch; they stay
/// in its file if it takes a snapshot from its successor. Committed is what two servers have, and what comes before it
/// in the same epoch: a server that was away has gaps.
[[nodiscard]] std::vector<ServerTransaction> merge_committed(const std::vector<std::vector<ServerTransaction>>& logs);

/// From the files "log.<server>.<zxid>" in the directory.
[[nodiscard]] std::vector<ServerTransaction> merge_transactions(const std::filesystem::path& directory);

}  // namespace zklock::chaos
