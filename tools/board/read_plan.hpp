// Which requests a board makes next, within its budget: pure decisions.
#pragma once

#include <zklock/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace zklock::tools {

/// What a board may cost the servers.
struct Budget {
  int reads_per_second = 500;      ///< listings and nodes' data together
  int idle_reads_per_second = 50;  ///< while there are no viewers
  std::size_t in_flight = 64;
  std::size_t watches = 2'000;
  std::size_t directories = 50'000;              ///< more are not read
  std::chrono::milliseconds pause{250};          ///< between two listings of a directory with a watch
  std::size_t bytes_per_second = 100'000;        ///< of one directory's listings: it makes the pause longer
  std::chrono::milliseconds sweep_pause{5'000};  ///< a directory without a watch is listed at most so often
  std::chrono::milliseconds idle_pause{30'000};  ///< the same while there are no viewers
  std::chrono::milliseconds keep_watch{10'000};  ///< how long a watch stays once it is no longer looked at
};

struct ReadRequest {
  enum class Kind : std::uint8_t {
    list,
    list_and_watch,
    read,   ///< a node's data
    forget  ///< gives the directory's watch up
  };
  Kind kind = Kind::list;
  std::string path;

  friend bool operator==(const ReadRequest&, const ReadRequest&) = default;
};

/// Two tiers: the base directories and those that are looked at have a watch and are listed after its event; the rest
/// is listed in turn. Both share one budget, and each gets a part of it whatever the other wants.
class ReadPlan {
 public:
  using Time = Clock::time_point;

  ReadPlan(Budget budget, const std::vector<std::string>& bases, Time now);

  /// False, and nothing is done, once there are Budget::directories.
  bool add(const std::string& directory, Time now);
  /// The directory and all below it.
  void remove(const std::string& directory);
  void want_data(const std::vector<std::string>& node_paths, bool looked_at);
  /// The directories that some viewer sees, the most important ones first. It replaces what was looked at before.
  void look_at(const std::vector<std::string>& directories, Time now);
  void set_viewed(bool viewed) noexcept { viewed_ = viewed; }

  // The outcomes of requests.
  void listed(const std::string& directory, std::size_t bytes, bool has_watch, Time now);
  void list_failed(const std::string& directory, Time now);
  void data_done() noexcept;
  /// The watch's event has come, or the watch has ended with its session.
  void fired(const std::string& directory, Time now);

  /// The requests to make now; each counts as under way until its outcome is reported (but `forget`).
  [[nodiscard]] std::vector<ReadRequest> next(Time now);

  /// Whether nothing is under way, and nothing waits for its turn but the sweep.
  [[nodiscard]] bool is_settled(Time now) const noexcept;
  [[nodiscard]] std::size_t watches() const noexcept { return watches_; }
  [[nodiscard]] std::size_t directories() const noexcept { return directories_.size(); }
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }
  /// How long ago the directory was listed whose turn it is: no directory without a watch was listed earlier.
  [[nodiscard]] Clock::duration oldest(Time now) const;

 private:
  using ByTime = std::set<std::pair<Time, std::string>>;

  struct Directory {
    bool is_base = false;
    bool has_watch = false;
    bool in_flight = false;
    bool looked_at = false;
    Time looked_until{};  ///< the watch stays until then
    Time listed{};        ///< when it was listed last; epoch: never
    Time due{};           ///< its entry in `due_in`
    ByTime* due_in = nullptr;
    Clock::duration pause{};
  };

  void make_due(const std::string& path, Directory& directory, Time at);
  void make_due(const std::string& path, Directory& directory, Time at, ByTime& queue);
  void clear_due(const std::string& path, Directory& directory);
  void end_watch(Directory& directory);
  [[nodiscard]] bool wants_watch(const Directory& directory, Time now) const;
  void forget_unseen(std::vector<ReadRequest>& out, Time now);
  bool list(const std::string& path, Directory& directory, std::vector<ReadRequest>& out, Time now);
  [[nodiscard]] static bool has_due(const ByTime& due, Time now) { return !due.empty() && due.begin()->first <= now; }
  bool take_due(ByTime& due, std::vector<ReadRequest>& out, Time now);
  bool take_data(std::vector<ReadRequest>& out);
  bool take_swept(std::vector<ReadRequest>& out, Time now);
  void refill(Time now);

  Budget budget_;
  std::unordered_map<std::string, Directory> directories_;
  ByTime changed_due_;  ///< those whose watch has fired
  ByTime urgent_due_;   ///< bases, and what is looked at: they have no watch yet
  ByTime due_;          ///< the others; thousands at the start
  ByTime swept_;        ///< those that neither have a watch nor are due, by when they were listed
  std::deque<std::string> urgent_data_;
  std::deque<std::string> data_;
  std::unordered_set<std::string> wanted_data_;
  std::set<std::string> looked_at_;  ///< those whose watch may have to go
  double tokens_ = 0;
  Time filled_;
  std::size_t watches_ = 0;
  std::size_t in_flight_ = 0;
  std::size_t turn_ = 0;
  bool viewed_ = false;
};

}  // namespace zklock::tools
