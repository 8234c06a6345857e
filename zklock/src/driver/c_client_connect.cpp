// Chooses the server to connect to, and when to try again.
#include "c_client_calls.hpp"
#include "c_client_driver.hpp"

#include <zklock/recipe_kit/random.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <spdlog/spdlog.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

namespace zklock {

using namespace std::chrono_literals;

namespace {

std::string joined(const std::vector<std::string>& addresses) {
  std::string list;
  for (const std::string& address : addresses) list += (list.empty() ? "" : ",") + address;
  return list;
}

}  // namespace

/// Fails only when the process is out of memory or descriptors, which may be temporary.
void CClientDriver::open() {
  assert(readable == ZOOKEEPER_READ && writable == ZOOKEEPER_WRITE);
  servers_changed_ = false;
  const CallScope scope{this};
  zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);  // the level is the whole process's, so no client may choose it
  addresses_ = odd_list(options_.servers, random_bits());
  clientid_t session{.client_id = credentials_.id, .passwd = {}};  // for a session that is to be closed
  std::copy(credentials_.password.begin(), credentials_.password.end(), std::begin(session.passwd));
  handle_ = zookeeper_init2(joined(addresses_).c_str(), &Callbacks::on_session,
                            static_cast<int>(options_.session_timeout.count()), session.client_id ? &session : nullptr,
                            nullptr, ZOO_NO_LOG_CLIENTENV, &Callbacks::log);
  if (!handle_) return;
  zoo_set_servers_resolution_delay(handle_, -1);  // or each iteration looks names up [F120]
  for (const AuthInfo& auth : options_.auth)      // before the first connection: later it may corrupt the stream [F131]
    zoo_add_auth(handle_, auth.scheme.c_str(), auth.credential.data(), static_cast<int>(auth.credential.size()),
                 nullptr, nullptr);
}

void CClientDriver::set_servers(std::vector<std::string> servers) {
  if (servers.empty() || servers == options_.servers) return;
  options_.servers = std::move(servers);
  servers_changed_ = true;
  if (!stopped_ && connected() && std::ranges::find(options_.servers, connected_server()) == options_.servers.end())
    readiness_.shut_down();
  wake();
}

/// "address:port" of the connected server.
std::string CClientDriver::connected_server() const {
  asio::ip::tcp::endpoint peer;
  auto size = static_cast<socklen_t>(peer.capacity());
  if (!zookeeper_get_connected_host(handle_, peer.data(), &size)) return {};
  peer.resize(size);
  return peer.address().to_string() + ":" + std::to_string(peer.port());
}

/// An attempt at a server that is also in the new list need not be given up.
bool CClientDriver::tries_listed_server() const {
  return attempts_.is_under_way() && std::ranges::find(options_.servers, current_server()) != options_.servers.end();
}

/// "address:port" of the server that is being tried. The library writes it into a buffer that all its handles share.
std::string CClientDriver::current_server() const {
  const CallScope nobody_is_called{nullptr};
  const char* server = zoo_get_current_server(handle_);
  return server ? server : "";
}

/// The library ignores a list of the same addresses with other ports [F119]. So it first gets a list that has none of
/// them; it does not connect meanwhile.
void CClientDriver::move_to_new_servers() {
  servers_changed_ = false;
  const CallScope scope{this};
  zoo_set_servers(handle_, "255.255.255.255:1");
  addresses_ = odd_list(options_.servers, random_bits());
  zoo_set_servers(handle_, joined(addresses_).c_str());
}

void CClientDriver::back_off(ConnectAttempts::Failure failure) {
  readiness_.disarm();
  attempts_.on_failure(failure, addresses_.size(), session_timeout_, Clock::now(), random_bits());
}

Clock::time_point CClientDriver::connect_overdue_at() const noexcept {
  return attempts_.overdue_at(session_timeout_, addresses_.size());
}

/// The message that follows when the driver gives a connection up is not a cause, and neither is that of a back-off.
void CClientDriver::note_trouble(std::string_view cause) {
  if (!options_.on_trouble || cause.starts_with("Delaying connection") || std::exchange(cause_is_known_, false)) return;
  options_.on_trouble(std::string{cause});
}

bool CClientDriver::connect_is_overdue() {
  if (!attempts_.is_under_way() || Clock::now() < connect_overdue_at()) return false;
  attempts_.end();
  give_up_connection("it took the connection, but is silent; is it a ZooKeeper server?");
  write_log();
  return readiness_.armed();
}

}  // namespace zklock
