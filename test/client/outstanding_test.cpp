// How many operations of a Client are under way.
#include "support/catch.hpp"
#include "support/lingering_executor.hpp"

#include <zklock/client.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

using namespace zklock;
using namespace std::chrono_literals;

namespace {

/// Makes a client whose operations fail soon, for lack of a server.
Client make_client() {
  return Client{
      {.connect_string = "127.0.0.1:1", .connection_timeout = 1ms, .retry = RetryNTimes{0, 1ms}, .max_outstanding = 1}};
}

/// Reads whose handlers run on an executor. The handler of each read begins the next one.
template <class Executor>
class Chain {
 public:
  Chain(const Client& client, Executor executor) : client_{client}, executor_{std::move(executor)} {}

  std::vector<error_code> read(int count) {
    left_ = count;
    next();
    return done_.get_future().get();
  }

 private:
  void next() {
    if (left_-- == 0) return done_.set_value(errors_);
    client_.async_get_data("/", asio::bind_executor(executor_, [this](error_code error, const DataResult&) {
                             errors_.push_back(error);
                             next();
                           }));
  }

  const Client& client_;
  Executor executor_;
  int left_ = 0;
  std::vector<error_code> errors_{};
  std::promise<std::vector<error_code>> done_{};
};

const std::vector<error_code> all_begun(5, make_error_code(Error::not_connected));

}  // namespace

TEST_CASE("an operation's place is free when its handler is called on the client's own executor") {
  const Client client = make_client();
  CHECK(Chain{client, client.get_executor()}.read(5) == all_begun);
}

TEST_CASE("an operation's place is free when its handler runs elsewhere, before the client's thread goes on") {
  asio::io_context context;  // its thread may still be inside a post when the client is destroyed
  const auto work = asio::make_work_guard(context);
  std::atomic<int> lingering{0};
  const Client client = make_client();
  std::vector<error_code> errors;
  {
    const std::jthread thread{[&] { context.run(); }};
    errors = Chain{client, test::LingeringExecutor{context, lingering}}.read(5);
    context.stop();
  }
  CHECK(errors == all_begun);
}
