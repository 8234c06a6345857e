#include "load.hpp"

#include <exception>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace zklock::test {
namespace {

constexpr const char* node = "/count";
constexpr const char* lock_path = "/locks/count";

std::pair<error_code, DataResult> read(const Session& session) {
  auto [error, result] =
      outcome_of_operation<DataResult>([&](auto token) { session.async_get_data(node, std::move(token)); });
  return {error, std::move(result)};
}

error_code write(const Session& session, const std::string& data, std::int32_t version) {
  return std::get<0>(
      outcome_of_operation<Stat>([&](auto token) { session.async_set_data(node, data, version, std::move(token)); }));
}

// "number who-wrote-it"
int number_in(const std::string& data) { return std::stoi(data); }
std::string author_in(const std::string& data) { return data.substr(data.find(' ') + 1); }

}  // namespace

struct Load::Worker {
  Worker(Load& l, std::string n, const std::string& connect_string, std::chrono::milliseconds timeout)
      : load{l},
        name{std::move(n)},
        client{{.connect_string = connect_string, .session_timeout = timeout, .connection_timeout = 60s}},
        session{connected_session(client)} {}

  Load& load;
  std::string name;
  Client client;
  Session session;
  InterProcessMutex mutex{client, lock_path};
  std::atomic<int> turns{0};
  std::string failure{};  // set by the end of the thread
  std::thread thread{};

  void run() {
    try {
      while (!load.stopping_) {
        take_turn();
        ++turns;
      }
      if (!(client.session() == session)) throw std::runtime_error{"has lost its session"};
    } catch (const std::exception& error) {
      failure = name + ": " + error.what();
      load.stopping_ = true;
    }
  }

  void take_turn() {
    const Lease lease = acquire(mutex);
    if (++load.inside_ != 1) throw std::runtime_error{"somebody else holds the lock"};
    const std::string author = name + "/" + std::to_string(turns);
    for (;;) {
      const error_code error = try_to_count(author);
      if (!error) break;
      if (!is_retryable(error)) throw boost::system::system_error{error, "counting"};
      if (!client.wait_connected(60s)) throw std::runtime_error{"is not connected again"};
    }
    --load.inside_;
  }

  [[nodiscard]] error_code try_to_count(const std::string& author) const {
    if (const error_code error = sync(session)) return error;
    const auto [error, before] = read(session);
    if (error || author_in(before.data) == author) return error;  // or done already: only the reply was lost
    return write(session, std::to_string(number_in(before.data) + 1) + " " + author, before.stat.version);
  }
};

Load::Load(const std::string& connect_string, std::chrono::milliseconds timeout, std::size_t workers) {
  for (std::size_t i = 0; i < workers; ++i)
    workers_.push_back(std::make_unique<Worker>(*this, "worker " + std::to_string(i), connect_string, timeout));
  const Session& session = workers_.front()->session;
  const auto made = outcome_of_operation<CreateResult>(
      [&](auto token) { session.async_create(node, "0 nobody", CreateMode::persistent, std::move(token)); });
  if (std::get<0>(made)) throw boost::system::system_error{std::get<0>(made), node};
  for (const auto& worker : workers_) worker->thread = std::thread{[&worker = *worker] { worker.run(); }};
}

Load::~Load() { stop(); }

bool Load::goes_on() {
  std::vector<int> goals;
  for (const auto& worker : workers_) goals.push_back(worker->turns + 2);  // the second one has begun after now
  return eventually(
             [&] {
               for (std::size_t i = 0; i < goals.size(); ++i)
                 if (workers_[i]->turns < goals[i]) return stopping_.load();
               return true;
             },
             60s) &&
         !stopping_;
}

void Load::stop() {
  stopping_ = true;
  for (const auto& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
}

std::string Load::failure() const {
  std::string all;
  for (const auto& worker : workers_)
    if (!worker->failure.empty()) all += worker->failure + "\n";
  return all;
}

int Load::counted() const {
  int sum = 0;
  for (const auto& worker : workers_) sum += worker->turns;
  return sum;
}

int Load::written() const {
  const Session& session = workers_.front()->session;
  if (const error_code error = sync(session)) throw boost::system::system_error{error, "sync"};
  const auto [error, result] = read(session);
  if (error) throw boost::system::system_error{error, node};
  return number_in(result.data);
}

bool Load::leaves_no_trace() const {
  return eventually([&] { return children_of(workers_.front()->client.session(), lock_path).empty(); });
}

}  // namespace zklock::test
