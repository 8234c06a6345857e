#include "orders.hpp"

#include "usage.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <future>
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

void Work::run(Clients& clients, std::istringstream& words, Workers workers) {
  int ramp = 0;
  int length = 0;
  words >> ramp >> length;
  std::vector<std::future<void>> working;
  for (auto& worker : workers)
    working.push_back(asio::co_spawn(clients.context(), std::move(worker), asio::use_future));
  std::this_thread::sleep_for(std::chrono::milliseconds{ramp});
  say("begin");
  const double cpu_before = cpu_seconds();
  began_ = now();
  std::this_thread::sleep_for(std::chrono::milliseconds{length});
  ended_ = now();
  cpu_seconds_ = cpu_seconds() - cpu_before;
  say("end");
  stopping_ = true;
  for (auto& each : working) each.get();
}

std::string Work::answer(const std::string& more) const {
  std::ostringstream line;
  line << R"({"began": )" << began_ << R"(, "ended": )" << ended_ << R"(, "cpu_seconds": )" << cpu_seconds_ << more
       << R"(, "spans": {)";
  for (const char* between_kinds = ""; const auto& [kind, spans] : spans_) {
    line << between_kinds << '"' << kind << "\": [";
    for (const char* between = ""; const auto& [from, to] : spans) {
      line << between << '[' << from << ", " << to << ']';
      between = ", ";
    }
    line << ']';
    between_kinds = ", ";
  }
  line << "}}";
  return line.str();
}

}  // namespace zklock::bench
