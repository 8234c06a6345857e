#include "server_list.hpp"

#include <boost/asio/ip/address.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace zklock {

using namespace std::chrono_literals;

namespace {

constexpr Clock::duration first_pause = 1s;
constexpr Clock::duration limit = 250ms;

bool is_name(const HostPort& server) {
  boost::system::error_code not_numeric;
  asio::ip::make_address(server.host, not_numeric);
  return static_cast<bool>(not_numeric);
}

/// The C client takes the text after the last colon for the port, and knows no brackets.
std::string with_port(const std::string& address, const HostPort& server) {
  return address + ":" + std::to_string(server.port);
}

}  // namespace

ServerList::ServerList(const asio::any_io_executor& executor, std::shared_ptr<spdlog::logger> logger,
                       std::function<void(const Addresses&)> found)
    : executor_{executor}, again_{executor}, limit_{executor}, logger_{std::move(logger)}, found_{std::move(found)} {}

void ServerList::set(std::vector<HostPort> servers) {
  servers_ = std::move(servers);
  pause_ = first_pause;
  look_up();
}

void ServerList::look_up() {
  if (closed_) return;
  if (std::ranges::none_of(servers_, is_name)) return publish();
  for (const HostPort& server : servers_)
    if (is_name(server)) ask(server.host);
  const auto then = [this](auto action) {
    return [weak = weak_from_this(), action](boost::system::error_code error) {
      if (const auto self = weak.lock(); self && !error) action(*self);
    };
  };
  if (limit_.expiry() <= Clock::now()) {  // a pause may be shorter, and an answer may not come at all
    limit_.expires_after(limit);
    limit_.async_wait(then([](ServerList& self) { self.publish(); }));
  }
  pause_ = std::min(pause_, longest_pause_);
  again_.expires_after(pause_);
  pause_ = 2 * pause_;
  again_.async_wait(then([](ServerList& self) {
    if (self.refreshing_ || self.resolved().empty()) self.look_up();
  }));
}

void ServerList::ask(const std::string& name) {
  auto& look_up = asked_[name];
  if (look_up) return;
  look_up = std::make_shared<NameLookup>(
      executor_, [weak = weak_from_this(), name](std::optional<NameLookup::Addresses> addresses) {
        if (const auto self = weak.lock()) self->on_answer(name, std::move(addresses));
      });
  look_up->start(name);
}

void ServerList::on_answer(const std::string& name, std::optional<Addresses> addresses) {
  if (closed_) return;
  // Its thread may still be inside the executor, and once the entry is removed from asked_, nothing else waits for it.
  asked_.extract(name).mapped()->abandon();
  if (addresses) known_[name] = std::move(*addresses);
  if (awaits_answers() && Clock::now() < limit_.expiry()) return;
  publish();
  if (!awaits_answers() && resolved().empty() && logger_)
    logger_->warn("zklock: none of the servers' names can be looked up, trying again");
}

bool ServerList::awaits_answers() const {
  return std::ranges::any_of(servers_, [this](const HostPort& server) { return asked_.contains(server.host); });
}

/// The addresses known so far, each once.
ServerList::Addresses ServerList::resolved() const {
  Addresses all;
  const auto add = [&all](std::string address) {
    if (std::ranges::find(all, address) == all.end()) all.push_back(std::move(address));
  };
  for (const HostPort& server : servers_) {
    if (!is_name(server)) {
      add(with_port(asio::ip::make_address(server.host).to_string(), server));
    } else if (const auto known = known_.find(server.host); known != known_.end()) {
      for (const std::string& address : known->second) add(with_port(address, server));
    }
  }
  return all;
}

void ServerList::publish() {
  Addresses addresses = resolved();
  if (addresses.empty() || closed_) return;
  if (std::is_permutation(addresses.begin(), addresses.end(), addresses_.begin(), addresses_.end())) return;
  addresses_ = std::move(addresses);
  found_(addresses_);
}

void ServerList::start_refresh(Clock::duration longest) {
  longest_pause_ = longest;
  const bool begins = !std::exchange(refreshing_, true);
  if (closed_ || std::ranges::none_of(servers_, is_name)) return;
  if (begins) pause_ = first_pause;
  if (begins || again_.expiry() > Clock::now() + longest) look_up();
}

void ServerList::stop_refresh() {
  refreshing_ = false;
  if (!resolved().empty()) again_.cancel();
}

void ServerList::close() {
  closed_ = true;
  for (const auto& [name, look_up] : asked_) look_up->abandon();
  again_.cancel();
  limit_.cancel();
}

}  // namespace zklock
