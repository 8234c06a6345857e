#include <zklock/recipe_kit/spawn.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <new>

namespace zklock {

namespace detail {

namespace {

void follow_cancellation(const std::shared_ptr<SpawnedOperation>& operation, const asio::any_io_executor& serial,
                         asio::cancellation_slot slot) {
  if (!slot.is_connected()) return;
  slot.assign([serial, weak = std::weak_ptr{operation}](asio::cancellation_type type) {
    if (type == asio::cancellation_type::none) return;
    asio::post(serial, [weak] {  // runs after the start, which may still be queued
      const auto self = weak.lock();
      if (!self) return;
      self->cancelled = !self->overdue;
      self->signal.emit(asio::cancellation_type::terminal);
    });
  });
}

void follow_clock(const std::shared_ptr<SpawnedOperation>& operation, const asio::any_io_executor& serial,
                  Deadline deadline) {
  if (!deadline) return;
  operation->timer.emplace(serial, *deadline);
  operation->timer->async_wait([weak = std::weak_ptr{operation}](error_code error) {
    const auto self = weak.lock();
    if (!self || error) return;
    self->overdue = true;
    self->signal.emit(asio::cancellation_type::terminal);
  });
}

/// The error to report for a body that has ended with `error`. A wait for a connection that is cut short ends with
/// not_connected (see RetryLoop). That is the right error at a deadline, but not for a caller who cancelled.
error_code outcome_of_body(const SpawnedOperation& operation, error_code error, Error at_deadline) {
  if (operation.overdue && error == asio::error::operation_aborted) return make_error_code(at_deadline);
  if (operation.cancelled && error == Error::not_connected) return asio::error::operation_aborted;
  return error;
}

}  // namespace

error_code code_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const boost::system::system_error& error) {
    return error.code();
  } catch (const std::bad_alloc&) {
    return boost::system::errc::make_error_code(boost::system::errc::not_enough_memory);
  } catch (...) {  // it must not come out of a completion handler, which would end the process
    return boost::system::errc::make_error_code(boost::system::errc::state_not_recoverable);
  }
}

void run_operation(std::shared_ptr<SpawnedOperation> operation, const asio::any_io_executor& serial, Deadline deadline,
                   asio::cancellation_slot slot, Awaitable<error_code> body, Error at_deadline) {
  follow_cancellation(operation, serial, slot);
  asio::dispatch(serial, [operation = std::move(operation), serial, deadline, body = std::move(body),
                          at_deadline]() mutable {
    follow_clock(operation, serial, deadline);
    const auto own_slot = operation->signal.slot();
    auto end = [operation = std::move(operation), at_deadline](const std::exception_ptr& thrown, error_code result) {
      const error_code error = outcome_of_body(*operation, thrown ? code_of(thrown) : result, at_deadline);
      operation->timer.reset();
      operation->complete(error);
    };
    asio::co_spawn(serial, std::move(body),
                   asio::bind_executor(serial, asio::bind_cancellation_slot(own_slot, std::move(end))));
  });
}

}  // namespace detail

void spawn_background(const asio::any_io_executor& serial, Awaitable<error_code> body,
                      std::function<void(error_code)> end, asio::cancellation_slot slot) {
  auto finish = [end = std::move(end)](const std::exception_ptr& thrown, error_code error) {
    end(thrown ? detail::code_of(thrown) : error);
  };
  asio::co_spawn(serial, std::move(body), asio::bind_cancellation_slot(slot, std::move(finish)));
}

void spawn_detached(const asio::any_io_executor& serial, Awaitable<void> body, asio::cancellation_slot slot) {
  asio::co_spawn(serial, std::move(body), asio::bind_cancellation_slot(slot, [](const std::exception_ptr&) {}));
}

}  // namespace zklock
