// What one browser looks at, and what it has been told.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace zklock::tools {

struct Viewer {
  std::string id;                 ///< names the stream in a POST of its view
  std::vector<std::string> seen;  ///< the locks on the screen
  std::string open;               ///< the lock whose wait queue is open; empty: none

  bool greeted = false;
  std::uint64_t revision = 0;  ///< the board's, as of the last event
  std::set<std::string> live;  ///< the locks that it was told to be watched
  std::string detail;          ///< the last event of each kind that is sent only when it has changed
  std::uint64_t findings = 0;
  std::uint64_t plots = 0;
  std::uint64_t status = 0;
};

using Viewers = std::map<std::string, std::shared_ptr<Viewer>>;

}  // namespace zklock::tools
