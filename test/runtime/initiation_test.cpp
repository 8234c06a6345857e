// What Asio's adapters ask of an operation that has not begun yet.
#include "support/catch.hpp"

#include <zklock/detail/initiate.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/io_context.hpp>

#include <memory>
#include <system_error>

using namespace zklock;

namespace {

/// A process that can start no more threads.
struct Exhausted {
  asio::io_context serial{};
};

asio::any_io_executor serial_executor(Exhausted& target) { return target.serial.get_executor(); }
asio::any_io_executor callback_executor(Exhausted&) {
  throw std::system_error{std::make_error_code(std::errc::resource_unavailable_try_again)};
}

}  // namespace

TEST_CASE("an operation has an executor for Asio's adapters also when the process is out of threads") {
  const auto target = std::make_shared<Exhausted>();
  const detail::Initiation<void(error_code), nullptr, std::shared_ptr<Exhausted>> initiation{target};
  CHECK(asio::get_associated_executor(initiation) == target->serial.get_executor());
}
