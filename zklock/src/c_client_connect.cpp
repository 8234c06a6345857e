// Where the driver connects, and how soon it tries again.
#include "c_client_calls.hpp"
#include "c_client_driver.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <spdlog/spdlog.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <cassert>

namespace zklock {

using namespace std::chrono_literals;

namespace {

constexpr Clock::duration first_back_off = 20ms;

/// An even list makes the library skip servers for ever (118): repeat one.
std::string odd_list(const std::vector<std::string>& servers) {
  std::string list;
  for (const std::string& server : servers) list += (list.empty() ? "" : ",") + server;
  return servers.size() % 2 == 0 ? list + "," + servers.front() : list;
}

}  // namespace

/// Fails only when the process is out of memory or descriptors, which may pass.
void CClientDriver::open() {
  assert(readable == ZOOKEEPER_READ && writable == ZOOKEEPER_WRITE);
  servers_changed_ = false;
  const CallScope scope{this};
  zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);  // the whole process's, so not one client's to choose
  handle_ = zookeeper_init2(odd_list(options_.servers).c_str(), &Callbacks::on_session,
                            static_cast<int>(options_.session_timeout.count()), nullptr, nullptr, ZOO_NO_LOG_CLIENTENV,
                            &Callbacks::log);
  if (!handle_) return;
  zoo_set_servers_resolution_delay(handle_, -1);  // else each turn looks names up (120)
  for (const AuthInfo& auth : options_.auth)      // before the first connection: later it may corrupt the stream (131)
    zoo_add_auth(handle_, auth.scheme.c_str(), auth.credential.data(), static_cast<int>(auth.credential.size()),
                 nullptr, nullptr);
}

void CClientDriver::set_servers(std::vector<std::string> servers) {
  if (servers.empty() || servers == options_.servers) return;
  options_.servers = std::move(servers);
  servers_changed_ = true;
  if (!stopped_ && connected() && std::ranges::find(options_.servers, connected_server()) == options_.servers.end())
    readiness_.shut_down();
  poke();
}

/// "address:port" of the server that we are connected to.
std::string CClientDriver::connected_server() const {
  asio::ip::tcp::endpoint peer;
  auto size = static_cast<socklen_t>(peer.capacity());
  if (!zookeeper_get_connected_host(handle_, peer.data(), &size)) return {};
  peer.resize(size);
  return peer.address().to_string() + ":" + std::to_string(peer.port());
}

/// The library does nothing about a list of the same addresses with other ports (119), so it is led over a list that
/// has none of them; nothing is connected meanwhile.
void CClientDriver::move_to_new_servers() {
  servers_changed_ = false;
  const CallScope scope{this};
  zoo_set_servers(handle_, "255.255.255.255:1");
  zoo_set_servers(handle_, odd_list(options_.servers).c_str());
}

/// After the first failure the next server is tried at once; after that we wait, longer each time and never in step
/// with others (81, 118).
void CClientDriver::back_off() {
  readiness_.disarm();
  Clock::duration wait = 1ms;
  if (failures_ > 0) {
    const Clock::duration cap = std::max<Clock::duration>(session_timeout_ / 10, first_back_off);
    const auto ceiling = std::min(first_back_off * (1 << std::min(failures_ - 1, 10)), cap);
    wait = ceiling / 2 +
           std::chrono::nanoseconds{std::uniform_int_distribution<std::int64_t>{0, (ceiling / 2).count()}(random_)};
  }
  ++failures_;
  not_before_ = Clock::now() + wait;
}

/// One server that takes the connection and says nothing must not cost the session: the library itself would wait for
/// 2/3 of it (134).
Clock::duration CClientDriver::connect_limit() const {
  const std::size_t addresses = options_.servers.size() | 1;  // see odd_list
  return session_timeout_ / (2 * addresses);
}

bool CClientDriver::connect_is_overdue() {
  if (!connecting() || Clock::now() < connecting_since_ + connect_limit()) return false;
  if (options_.logger)
    options_.logger->warn("zklock: session={:#x} a server did not finish the handshake in time, trying the next",
                          static_cast<std::uint64_t>(credentials_.id));
  connecting_since_ = Clock::time_point::max();
  readiness_.shut_down();
  return readiness_.armed();
}

}  // namespace zklock
