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
  const auto thrower = GENERATE(std::function<void()>{[] { throw boost::system::system_error{Error::no_node}; }},
                                std::function<void()>{[] { throw std::bad_alloc{}; }},
                                std::function<void()>{[] { throw std::runtime_error{"a bug"}; }},
                                std::function<void()>{[] { throw 7; }});
  const auto body = [](std::function<void()> run) -> Awaitable<error_code> {
    run();
    co_return error_code{};
  };
  asio::io_context context;
  std::optional<error_code> ended;
  spawn_background(context.get_executor(), body(thrower), [&](error_code error) { ended = error; });
  CHECK_NOTHROW(context.run());
  REQUIRE(ended);
  const bool is_told =
      *ended == Error::no_node || *ended == errc::not_enough_memory || *ended == errc::state_not_recoverable;
  CHECK(is_told);
}
