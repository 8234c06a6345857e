// How many requests of a client's operations are at one session at once.
#pragma once

#include "runtime.hpp"

#include <zklock/detail/operation.hpp>

#include <list>
#include <memory>
#include <optional>
#include <utility>

namespace zklock::detail {

/// The other operations wait here, in the order in which they came: a server answers no sooner for having them all, and
/// a lost link puts in doubt only what was sent.
///
/// Threads: the serial executor.
class RequestSlots : public std::enable_shared_from_this<RequestSlots> {
 public:
  /// One of them, for as long as it lives.
  class Slot {
   public:
    explicit Slot(std::shared_ptr<RequestSlots> of) noexcept : of_{std::move(of)} {}
    ~Slot() { of_->release(); }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

   private:
    std::shared_ptr<RequestSlots> of_;
  };

  RequestSlots(const std::shared_ptr<Runtime>& runtime, int count) : runtime_{runtime}, free_{count} {}

  /// True: the caller has one, and makes a Slot of it at once. False: wait.
  [[nodiscard]] bool try_take() noexcept;
  /// Completes without an error when the caller has one, as above; with Error::closed after the end.
  template <class Token>
  auto async_take(Token&& token) {
    return asio::async_initiate<Token, void(error_code)>(
        [self = shared_from_this()](auto handler) { self->wait(Handler<>{std::move(handler)}); }, token);
  }
  /// Nobody waits any more, nor will anybody.
  void close();
  /// The executor has come to its end: lets go of every handler.
  void abandon();

 private:
  struct Waiter;

  void wait(Handler<> handler);
  void answer(Waiter& waiter, error_code error);
  void release();

  std::weak_ptr<Runtime> runtime_;
  int free_;
  std::list<std::shared_ptr<Waiter>> waiting_;
  bool closed_ = false;
};

}  // namespace zklock::detail
