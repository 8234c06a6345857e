// The board, and those who look at it.
#pragma once

#include "board/board_diagnosis.hpp"
#include "board/board_feed.hpp"
#include "board_json.hpp"
#include "viewer.hpp"
#include "web.hpp"

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zklock::tools {

using namespace web;

/// Tells each viewer what is new on the board, and the feed what the viewers look at.
///
/// Threads: that of the feed.
class LiveBoard {
 public:
  LiveBoard(std::shared_ptr<BoardFeed> feed, Greeting greeting)
      : feed_{std::move(feed)}, greeting_{std::move(greeting)} {}

  /// The events of a new viewer. They refer to this object.
  [[nodiscard]] std::unique_ptr<EventSource> open();
  /// False if there is no such stream.
  bool look(const std::string& stream, std::vector<std::string> seen, std::string open);
  /// To be called every second.
  void tick();
  /// The trends from the services' metrics have changed.
  void set_plots(std::string json);

  [[nodiscard]] const BoardFeed& feed() const noexcept { return *feed_; }
  [[nodiscard]] std::size_t viewers() const noexcept { return viewers_.size(); }

 private:
  class Events;

  [[nodiscard]] std::string updates_for(Viewer& viewer);
  [[nodiscard]] std::string rows_for(Viewer& viewer);
  [[nodiscard]] std::string delta_between(std::uint64_t from, Viewer& viewer);
  void close(const std::string& stream);
  void tell_feed();
  void examine();
  void add_trend();

  std::shared_ptr<BoardFeed> feed_;
  Greeting greeting_;
  Viewers viewers_;
  std::uint64_t streams_ = 0;
  std::deque<TrendPoint> trend_;
  bool has_new_trend_ = false;
  BoardDiagnosis diagnosis_;
  std::string findings_ = R"({"findings":[],"tree":[]})";
  std::uint64_t findings_version_ = 1;
  std::string plots_;
  std::uint64_t plots_version_ = 0;
  std::string status_;
  std::uint64_t ticks_ = 0;
  std::uint64_t reads_ = 0;
};

}  // namespace zklock::tools
