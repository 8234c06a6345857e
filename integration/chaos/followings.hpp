// What each process has kept and followed, and for how long.
#pragma once

#include "evidence.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::chaos {

struct Following {
  int process = 0;
  std::string path{};
  Interval when{};                ///< until its end, its process's death, or the end of what is known of that
  bool is_last = true;            ///< of its process and path
  std::vector<Record> records{};  ///< of this path and below, in their order, with the last one

  /// Null: there is none.
  [[nodiscard]] const Record* first(Event event) const;
  [[nodiscard]] const Record* last(Event event) const;
};

/// From each event `begin` to the next event `end` of the same process and path.
[[nodiscard]] std::vector<Following> followings_of(const Evidence& evidence, Event begin, Event end);

/// The times in which a server may answer that does not know what the others know: a leader that is cut off, or has
/// been stopped, answers a sync by itself; and a server may have strayed.
[[nodiscard]] std::vector<Interval> times_of_stale_servers(const Evidence& evidence);

/// The times in which a server may have answered that did not have the others' state, until it had begun anew: from the
/// fault of a server after which that was found. What was shown then proves nothing. (If not all servers answered when
/// they were asked, it may have strayed after an earlier fault.)
[[nodiscard]] std::vector<Interval> times_of_strayed_servers(const Evidence& evidence);

/// Whether the path is that one, or is below it.
[[nodiscard]] bool is_at_or_below(std::string_view path, std::string_view root);

}  // namespace zklock::chaos
