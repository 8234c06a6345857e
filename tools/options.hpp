// The options of the command line.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace zklock::tools {

/// The ZooKeeper to connect to.
struct Where {
  std::string connect{};  ///< empty: $ZKLOCK_CONNECT
  bool dev = false;       ///< a temporary server of the program's own
  bool verbose = false;
  std::vector<std::string> auth{};  ///< credentials, "scheme:id", in addition to those of $ZKLOCK_AUTH
  std::string auth_file{};          ///< a file with more of them, one a line
};

/// The kind of lock that `zklock run` acquires at its path, or of election in which `zklock lead` stands there.
enum class Mode {
  mutex,
  shared,     ///< the read lock of a read/write lock
  exclusive,  ///< the write lock of one
  permit,     ///< one permit of a semaphore
  latch,      ///< a LeaderLatch
  selector    ///< a LeaderSelector
};

/// Those of `zklock run`, and of `zklock lead`.
struct RunOptions {
  Where where{};
  std::string path{};
  Mode mode = Mode::mutex;
  std::int32_t permits = 1;                            ///< how many permits the semaphore has
  std::optional<std::string> id{};                     ///< the candidate's
  std::optional<int> priority{};                       ///< the candidate's
  bool revocable = false;                              ///< ends its command when a client asks for the lock
  std::chrono::milliseconds max_hold{0};               ///< zero: no limit
  std::optional<std::chrono::milliseconds> timeout{};  ///< std::nullopt: for ever
  std::chrono::milliseconds session_timeout{10'000};
  std::chrono::milliseconds kill_after{5'000};
  std::vector<std::string> command{};
};

struct LsOptions {
  Where where{};
  std::string path{};
  bool json = false;
};

struct LeadersOptions {
  Where where{};
  std::string path{};
  bool json = false;
};

struct RevokeOptions {
  Where where{};
  std::string path{};
  std::optional<std::chrono::milliseconds> wait{};  ///< std::nullopt: only asks
  std::string audit{};                              ///< a file for the records of what was asked
};

struct DoctorOptions {
  Where where{};
  std::vector<std::string> paths{};
  std::chrono::milliseconds wait{2'000};          ///< between two readings; zero: no finding of stuck queues
  std::chrono::milliseconds stuck_after{60'000};  ///< how long the next waiter may wait before that is a problem
  std::size_t max_nodes = 10'000;
  std::size_t max_depth = 16;
  bool json = false;
};

struct DashboardOptions {
  Where where{};
  std::vector<std::string> bases{};
  std::string listen = "127.0.0.1:8080";
  std::vector<std::string> allowed_hosts{};
  std::vector<std::string> scrape{};  ///< where the services' metrics are
  bool allow_revoke = false;
  std::string audit{};  ///< a file for the records of what was asked
  std::string token_file{};
  std::string token{};  ///< of the file, or made; not on the command line, where others would see it
  int reads_per_second = 500;
  std::size_t watches = 2'000;
};

struct TopOptions {
  Where where{};
  std::string path{};
  bool once = false;
  bool json = false;
};

struct CountOptions {
  Where where{};
  std::string path{};
  std::optional<std::int64_t> add{};  ///< std::nullopt: only reads
};

struct TreeOptions {
  Where where{};
  std::string path{};
  bool json = false;
};

struct WatchOptions {
  Where where{};
  std::string path{};
  bool recursive = false;  ///< all below the path, not only its children
  bool json = false;
};

struct ServerOptions {
  std::uint16_t port = 0;  ///< 0: any that is free
};

using Options = std::variant<RunOptions, LsOptions, LeadersOptions, RevokeOptions, DoctorOptions, DashboardOptions,
                             TopOptions, TreeOptions, WatchOptions, CountOptions, ServerOptions>;

/// How long the program tries to reach ZooKeeper before it gives up.
inline constexpr std::chrono::milliseconds connect_limit{10'000};

}  // namespace zklock::tools
