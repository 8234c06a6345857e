#include "server_list.hpp"

#include <boost/asio/ip/address.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace zklock {

using namespace std::chrono_literals;
using asio::ip::tcp;

namespace {

constexpr Clock::duration first_pause = 1s;
constexpr Clock::duration longest_pause = 30s;

/// The C client takes the last colon for the port's and knows no brackets.
std::string numeric(const asio::ip::address& address, std::uint16_t port) {
  return address.to_string() + ":" + std::to_string(port);
}

bool is_name(const HostPort& server) {
  boost::system::error_code not_numeric;
  asio::ip::make_address(server.host, not_numeric);
  return static_cast<bool>(not_numeric);
}

}  // namespace

/// One server after the other.
struct ServerList::LookUp : std::enable_shared_from_this<LookUp> {
  LookUp(std::shared_ptr<ServerList> l, std::vector<HostPort> s) : list{std::move(l)}, servers{std::move(s)} {}

  std::shared_ptr<ServerList> list;
  std::vector<HostPort> servers;
  Addresses found{};
  std::size_t next = 0;

  void run() {
    for (; next < servers.size(); ++next) {
      if (is_name(servers[next])) return ask();
      add(numeric(asio::ip::make_address(servers[next].host), servers[next].port));
    }
    list->on_found(std::move(found));
  }

  void ask() {
    list->resolver_.async_resolve(
        servers[next].host, std::to_string(servers[next].port), tcp::resolver::numeric_service,
        [self = shared_from_this()](boost::system::error_code error, const tcp::resolver::results_type& results) {
          if (error == asio::error::operation_aborted) return;  // closed
          const HostPort& server = self->servers[self->next];
          Addresses& known = self->list->known_[server.host + ":" + std::to_string(server.port)];
          if (!error) {
            known.clear();
            for (const auto& entry : results)
              known.push_back(numeric(entry.endpoint().address(), entry.endpoint().port()));
          }
          for (const std::string& address : known) self->add(address);  // of the last time that it went well
          ++self->next;
          self->run();
        });
  }

  void add(std::string server) {
    if (std::find(found.begin(), found.end(), server) == found.end()) found.push_back(std::move(server));
  }
};

ServerList::ServerList(const asio::any_io_executor& executor, std::shared_ptr<spdlog::logger> logger,
                       std::function<void(const Addresses&)> found)
    : resolver_{executor}, timer_{executor}, logger_{std::move(logger)}, found_{std::move(found)} {}

void ServerList::set(std::vector<HostPort> servers) {
  servers_ = std::move(servers);
  pause_ = first_pause;
  timer_.cancel();
  look_up();
}

void ServerList::look_up() {
  if (closed_) return;
  again_ = looking_;
  if (std::exchange(looking_, true)) return;
  const auto look_up = std::make_shared<LookUp>(shared_from_this(), servers_);
  look_up->run();
}

void ServerList::on_found(Addresses addresses) {
  looking_ = false;
  if (closed_) return;
  if (again_) return look_up();  // for other servers by now
  if (addresses.empty()) {
    if (logger_) logger_->warn("zklock: none of the servers' names can be looked up, trying again");
    return wait_and_look_up();
  }
  if (!std::is_permutation(addresses.begin(), addresses.end(), addresses_.begin(), addresses_.end())) {
    addresses_ = std::move(addresses);
    found_(addresses_);
  }
  if (doubted_) wait_and_look_up();
}

void ServerList::doubt() {
  if (std::exchange(doubted_, true) || closed_ || std::ranges::none_of(servers_, is_name)) return;
  pause_ = first_pause;
  look_up();
}

void ServerList::rest() {
  doubted_ = false;
  if (!addresses_.empty()) timer_.cancel();
}

void ServerList::wait_and_look_up() {
  if (std::ranges::none_of(servers_, is_name)) return;
  timer_.expires_after(pause_);
  pause_ = std::min(2 * pause_, longest_pause);
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    if (const auto self = weak.lock(); self && !error) self->look_up();
  });
}

void ServerList::close() {
  closed_ = true;
  resolver_.cancel();
  timer_.cancel();
}

}  // namespace zklock
