// How the program's coroutines wait for an operation.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace zklock::tools {

/// The operation's results as a tuple, whose first element is its error.
constexpr auto use_tuple = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace zklock::tools
