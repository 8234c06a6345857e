// What comes of an exception in an operation's body.
#include "support/catch.hpp"

#include <zklock/recipe_kit/spawn.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <functional>
#include <new>
#include <optional>
#include <stdexcept>

using namespace zklock;

TEST_CASE("whatever a body throws is an error of its operation, and harms nobody else") {
  namespace errc = boost::system::errc;
  struct Case {
    std::function<void()> thrower;
    error_code error;
  };
  const auto unrecoverable = make_error_code(errc::state_not_recoverable);
  const auto each = GENERATE_COPY(
      Case{[] { throw boost::system::system_error{Error::no_node}; }, make_error_code(Error::no_node)},
      Case{[] { throw std::bad_alloc{}; }, make_error_code(errc::not_enough_memory)},
      Case{[] { throw std::runtime_error{"a bug"}; }, unrecoverable}, Case{[] { throw 7; }, unrecoverable});
  const auto body = [](std::function<void()> run) -> Awaitable<error_code> {
    run();
    co_return error_code{};
  };
  asio::io_context context;
  std::optional<error_code> ended;
  spawn_background(context.get_executor(), body(each.thrower), [&](error_code error) { ended = error; });
  CHECK_NOTHROW(context.run());
  CHECK(ended == each.error);
}
