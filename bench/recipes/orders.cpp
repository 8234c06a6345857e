#include "orders.hpp"

#include <boost/asio/use_future.hpp>

#include <chrono>
#include <iostream>
#include <stdexcept>

namespace zklock::bench {

void say(const std::string& line) { std::cout << line << std::endl; }

void obey(const Orders& orders) {
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words{line};
    std::string verb;
    words >> verb;
    const auto found = orders.find(verb);
    if (found == orders.end()) throw std::invalid_argument{"what is '" + line + "'?"};
    say(found->second(words));
  }
}

std::int64_t now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

Clients::~Clients() {
  close();
  work_.reset();
  thread_.join();
}

void Clients::connect(const Task& task, std::size_t number) {
  for (; number > 0; --number) {
    ClientConfig config{.connect_string = task.servers,
                        .session_timeout = std::chrono::milliseconds{task.session_timeout_ms}};
    clients_.emplace_back(context_.get_executor(), std::move(config));
  }
  for (Client& client : clients_)
    if (!client.wait_connected(std::chrono::seconds{20})) throw std::runtime_error{"no connection"};
}

void Clients::close() {
  std::vector<std::future<void>> closing;
  for (Client& client : clients_) closing.push_back(client.async_close(asio::use_future));
  for (auto& each : closing) each.wait();
  clients_.clear();
}

}  // namespace zklock::bench
