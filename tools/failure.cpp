#include "failure.hpp"

#include "printable.hpp"

#include <zklock/recipes/locks/lock_error.hpp>

#include <boost/system/system_error.hpp>

#include <iostream>

namespace zklock::tools {
namespace {

bool is_bad_argument(const boost::system::error_code& error) {
  return error == Error::invalid_connect_string || error == Error::invalid_timeout ||
         error == LockError::invalid_lock_path || error == Error::invalid_path;
}

int status_of(const std::exception& why) {
  if (const auto* failure = dynamic_cast<const Failure*>(&why)) return failure->status();
  const auto* error = dynamic_cast<const boost::system::system_error*>(&why);
  return error != nullptr && is_bad_argument(error->code()) ? status::usage : status::unavailable;
}

}  // namespace

void say(std::string_view message) {
  // In one write, since the command writes to the same place.
  std::cerr << "zklock: " + printable(message) + "\n" << std::flush;
}

int report(const std::exception& why) {
  say(why.what());
  return status_of(why);
}

}  // namespace zklock::tools
