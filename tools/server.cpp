#include "server.hpp"

#include "failure.hpp"
#include "signals.hpp"

#include <zklock/testing/test_server.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <iostream>
#include <system_error>

#include <sys/syscall.h>
#include <unistd.h>

namespace zklock::tools {
namespace {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;

asio::posix::stream_descriptor watch_process(const asio::any_io_executor& executor, int pid) {
  const auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (descriptor < 0) throw std::system_error{errno, std::generic_category(), "pidfd_open"};
  return asio::posix::stream_descriptor{executor, descriptor};
}

asio::awaitable<int> serve(Signals& signals, const testing::TestServer& server) {
  auto process = watch_process(co_await asio::this_coro::executor, server.pid());
  auto ended = process.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
  const auto first = co_await (std::move(ended) || signals.next());
  if (first.index() == 1) co_return 0;
  throw Failure{status::unavailable, "the server has ended on its own"};
}

}  // namespace

int server(const ServerOptions& options) {
  asio::io_context context{1};
  Signals signals{context.get_executor(), {SIGINT, SIGTERM, SIGHUP}};
  const testing::TestServer server{{.port = options.port}};
  std::cout << server.connect_string() << std::endl;
  int status = 0;
  std::exception_ptr thrown;
  asio::co_spawn(context, serve(signals, server), [&](std::exception_ptr error, int result) {
    thrown = std::move(error);
    status = result;
  });
  context.run();
  if (thrown) std::rethrow_exception(thrown);
  return status;
}

}  // namespace zklock::tools
