// A candidate of an election, as its node describes it; and the stream of leaders.
#pragma once

#include <zklock/event_stream.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace zklock {

/// A candidate; the first one in the wait queue leads.
struct Leader {
  std::string id;                  ///< the node's data, whatever program wrote them
  std::int64_t fencing_token = 0;  ///< the node's czxid
  std::int64_t session_id = 0;
  std::chrono::system_clock::time_point since;  ///< when it began to stand, on the server's clock
  std::string node_path;

  friend bool operator==(const Leader&, const Leader&) = default;
};

/// Tells which candidate is the first one, without standing: at once, and again when it is another one. std::nullopt:
/// there is none. A reader that is slow hears of the newest leader only. The first one may not know yet that it leads,
/// may be suspect, or may be about to step back for a candidate with a higher priority.
///
/// Over one stream tokens never fall. It costs one event and two reads for each change. Lost links and sessions are
/// survived; the stream ends with Error::closing when the client is closed, and with Error::no_auth,
/// Error::too_many_watches and whatever else makes further looks useless.
using LeaderStream = EventStream<std::optional<Leader>>;

}  // namespace zklock
