// The nodes beside the locks by the servers' transactions: when each was there, and with which data.
#pragma once

#include "transactions.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace zklock::chaos {

/// The data of a node from one transaction to the next.
struct Version {
  std::int64_t zxid = 0;
  std::int64_t at = 0;
  std::string data{};
};

/// A node from its creation to its deletion.
struct Life {
  std::int64_t owner = 0;            ///< a session; 0: none
  std::vector<Version> versions{};   ///< the first is its creation
  std::int64_t removed = INT64_MAX;  ///< a transaction
  std::int64_t removed_at = INT64_MAX;
  bool came_late = false;  ///< made after a later request of its session

  [[nodiscard]] std::int64_t created() const { return versions.front().zxid; }
  [[nodiscard]] std::int64_t created_at() const { return versions.front().at; }
};

/// Of all paths in the layout that are followed or kept.
class Lives {
 public:
  Lives() = default;
  explicit Lives(const std::vector<ServerTransaction>& transactions);

  /// By path, each in the order of time.
  [[nodiscard]] const std::map<std::string, std::vector<Life>>& all() const noexcept { return all_; }
  [[nodiscard]] const std::vector<Life>& of(const std::string& path) const;
  /// The node that this transaction has made; null if it has not.
  [[nodiscard]] const Life* find(const std::string& path, std::int64_t created) const;

 private:
  void create(const ServerTransaction& transaction, const Change& change, bool came_late);
  void remove(const ServerTransaction& transaction, const std::string& path);
  [[nodiscard]] Life* alive(const std::string& path);

  std::map<std::string, std::vector<Life>> all_;
  std::map<std::int64_t, std::vector<std::string>> ephemerals_;
  std::map<std::int64_t, std::int32_t> last_requests_;
};

}  // namespace zklock::chaos
