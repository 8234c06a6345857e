// A server and clients of it, as most integration tests need them.
#pragma once

#include "await.hpp"

#include <zklock/client.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/testing/test_server.hpp>

#include <boost/system/system_error.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace zklock::test {

/// The longest that a TestServer grants without further options: a busy machine must not cost a session that its test
/// does not mean to lose.
inline constexpr std::chrono::milliseconds session_timeout{10'000};

/// For a session that is to outlive a killed server: on a busy machine its restart, or an election, takes longer than
/// other sessions last. Servers with such ticks grant it.
inline constexpr std::chrono::milliseconds long_session_timeout{40'000};
inline constexpr std::chrono::milliseconds long_tick{2'000};

/// One server for all tests of this process that do not harm it.
testing::TestServer& shared_server();

/// Where a client may not read a node, the events of the node are dropped, and spend the watch: so it is with servers from
/// 3.8.4 and 3.9.2 on, and with Debian 12's 3.8.0 since a security update (CVE-2024-23944). The version does not tell, so
/// this asks the server.
bool hides_events(const testing::TestServer& server);
/// There, `exists` fails with no_auth: with servers from 3.8.4 and 3.9.2 on (ZOOKEEPER-2590).
bool refuses_exists(const testing::TestServer& server);

/// The error that a call throws; success if none.
template <class Call>
error_code thrown_by(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const boost::system::system_error& error) {
    return error.code();
  }
  return {};
}

/// A path that no other test uses.
std::string fresh_path();

Client make_client(const testing::TestServer& server, std::chrono::milliseconds timeout = session_timeout);
/// The session of a client that is connected by now.
Session connected_session(const Client& client);

/// Whether the node exists; false also when that cannot be found out.
bool exists(const Session& session, const std::string& path);
/// A round trip, to the leader and back.
error_code sync(const Session& session);
std::vector<std::string> children_of(const Session& session, const std::string& path);
/// Uses a lock until its client keeps it: then two uses leave the same node in the directory. (If the server deletes the
/// directory while it is empty, it takes the client longer to see that it is alone.)
[[nodiscard]] bool is_kept_soon(const Session& session, const std::string& directory,
                                const std::function<void()>& use_once);
Lease acquire(const InterProcessMutex& mutex);

/// The watches by which waiters wait for nodes: all but data watches. A lock's object may keep one of these on its
/// directory.
std::int64_t node_watches(const testing::TestServer& server);
/// Whether nothing is left of a lock: no child under its path, and no watch in the server.
bool leaves_no_trace(const testing::TestServer& server, const Session& session, const std::string& path);

}  // namespace zklock::test
