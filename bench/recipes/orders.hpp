// Programs that do what their input says, line by line.
#pragma once

#include "task.hpp"

#include <zklock/client.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace zklock::bench {

namespace asio = boost::asio;

/// What each first word of a line does with the other words; the text that it returns is printed in a line.
using Orders = std::map<std::string, std::function<std::string(std::istringstream&)>>;

void say(const std::string& line);
/// Says "ready", and obeys until the input ends.
void obey(const Orders& orders);

/// Nanoseconds of the clock that all processes of the machine share.
std::int64_t now();

/// Clients on one thread, as in a service.
class Clients {
 public:
  ~Clients();

  /// Adds clients that are connected.
  void connect(const Task& task, std::size_t number);
  /// Ends the sessions.
  void close();
  [[nodiscard]] std::deque<Client>& all() noexcept { return clients_; }
  [[nodiscard]] asio::io_context& context() noexcept { return context_; }

 private:
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(context_);
  std::thread thread_{[this] { context_.run(); }};
  std::deque<Client> clients_;
};

/// A measured time in which workers work again and again, once at least. They are on the clients' thread.
class Work {
 public:
  using Workers = std::vector<asio::awaitable<void>>;

  [[nodiscard]] bool stopping() const noexcept { return stopping_; }
  /// Notes that something took so long; `kind` is its name in the answer.
  void add(const std::string& kind, std::int64_t from, std::int64_t to) { spans_[kind].emplace_back(from, to); }

  /// Lets them work for the milliseconds that the words say: first a ramp, then what is counted. Says when that begins
  /// and ends.
  void run(Clients& clients, std::istringstream& words, Workers workers);
  /// When the counted time was, its CPU time, and all that the workers have noted, with more members of the object.
  [[nodiscard]] std::string answer(const std::string& more = "") const;

 private:
  std::atomic<bool> stopping_{false};
  std::int64_t began_ = 0;
  std::int64_t ended_ = 0;
  double cpu_seconds_ = 0;
  std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> spans_;
};

/// Stands for leadership, leads for a while and resigns, again and again; the answer has when that was.
void candidates(const Task& task);
/// Leads until it is killed.
void lead(const Task& task);
/// Clients that increment a count.
void counters(const Task& task);
/// Increments of an atomic counter, so many at a time.
void atomics(const Task& task);
/// Members that meet at one double barrier after another.
void double_barriers(const Task& task);
/// Sets a count by one client, and hears of it by another.
void count_listener(const Task& task);
/// Caches, one in each client, that are opened, awaited, followed and closed.
void caches(const Task& task);
/// Plants the tree that is cached, and changes it.
void tree(const Task& task);
/// Is a member of a group, and tells when others leave.
void member(const Task& task);
/// Joins a group and leaves it again and again, while the other clients' members look.
void comer(const Task& task);
/// Keeps a node over ended sessions.
void kept_node(const Task& task);

}  // namespace zklock::bench
