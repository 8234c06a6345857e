// A line that shows the progress.
#pragma once

#include "shop.hpp"

#include <string>

namespace shop {

/// On a terminal the line is overwritten each time; elsewhere a new one is written once a second.
class Progress {
 public:
  explicit Progress(std::string title) : title_{std::move(title)} {}
  void show(int sold, int stock, Clock::duration elapsed);
  /// The last line of this run.
  void finish(const std::string& outcome);

 private:
  std::string title_;
  Clock::time_point last_{};
};

}  // namespace shop
