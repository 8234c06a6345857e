// Feeds a LockBoard from ZooKeeper.
#pragma once

#include "lock_board.hpp"
#include "read_plan.hpp"

#include <zklock/client.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace zklock::tools {

/// Reads the directories below the bases as its ReadPlan says. It only reads. Made by std::make_shared.
///
/// Threads: that of the executor, which must run one function at a time.
class BoardFeed : public std::enable_shared_from_this<BoardFeed> {
 public:
  BoardFeed(asio::any_io_executor executor, ClientHandle client, std::vector<std::string> bases, Budget budget);

  void start();
  /// Afterwards nothing is requested, and no outcome is taken.
  void stop();

  [[nodiscard]] const LockBoard& board() const noexcept { return board_; }
  /// The locks that some viewer sees, and those whose wait queues some viewer has open.
  void look_at(const std::vector<std::string>& seen, const std::set<std::string>& open);
  void set_viewed(bool viewed) { plan_.set_viewed(viewed); }
  /// Reads the data of a node again.
  void read_again(const std::string& node_path) { plan_.want_data({node_path}, true); }

  struct Status {
    bool connected = false;
    std::chrono::system_clock::time_point contact;  ///< when something was read last
    std::set<std::string> missing;                  ///< base directories that do not exist
    std::uint64_t reads = 0;                        ///< requests sent so far
    std::size_t watches = 0;
    std::size_t directories = 0;
    std::chrono::milliseconds oldest{};  ///< what has no watch is known at least as of so long ago
  };
  [[nodiscard]] Status status() const;
  /// Whether everything was read once.
  [[nodiscard]] bool is_settled() const { return reads_ > 0 && plan_.is_settled(Clock::now()); }
  /// Whether the lock's directories have watches.
  [[nodiscard]] bool is_watched(const std::string& lock) const;

 private:
  void tick();
  void follow_link();
  void send(const ReadRequest& request);
  void list(const std::string& path);
  void list_and_watch(const std::string& path);
  void read(const std::string& path);
  void on_listed(const std::string& path, error_code error, const ChildrenResult& children, Watch* watch);
  void on_read(const std::string& path, error_code error, const DataResult& node);
  void keep_watch(const std::string& path, Watch watch);
  void on_no_node(const std::string& path);
  void await_base(const std::string& base);
  void add_directories(const std::string& parent, const LockBoard::Changes& changes);
  void want_data(const std::string& lock);
  void refresh_holders();

  asio::any_io_executor executor_;
  ClientHandle client_;
  std::vector<std::string> bases_;
  LockBoard board_;
  ReadPlan plan_;
  Timer timer_;
  StateStream states_;
  std::unordered_map<std::string, Watch> watches_;
  std::vector<std::string> seen_;
  std::set<std::string> open_;
  std::set<std::string> missing_;
  std::chrono::system_clock::time_point contact_;
  Clock::time_point holders_read_;
  std::uint64_t reads_ = 0;
  bool connected_ = false;
  bool stopped_ = true;
};

}  // namespace zklock::tools
