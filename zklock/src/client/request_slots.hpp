// Limits how many requests of a client's operations one session has under way at once.
#pragma once

#include "runtime.hpp"

#include <zklock/detail/initiate.hpp>

#include <list>
#include <memory>
#include <optional>
#include <utility>

namespace zklock::detail {

/// The other operations wait here, in the order of their arrival. The server would not answer sooner if it had all of
/// them, and a lost link makes only the outcome of sent requests ambiguous.
///
/// Threads: the serial executor.
class RequestSlots : public std::enable_shared_from_this<RequestSlots> {
 public:
  /// One slot, for as long as the object exists.
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

  /// True: the caller has a slot and makes a Slot object at once. False: it must wait.
  [[nodiscard]] bool try_take() noexcept;
  /// Completes without an error when the caller has a slot, as above; with Error::closed after close().
  template <class Token>
  auto async_take(Token&& token) {
    return asio::async_initiate<Token, void(error_code)>(
        [self = shared_from_this()](auto handler) { self->wait(Handler<>{std::move(handler)}); }, token);
  }
  /// Ends all waits, and refuses new ones.
  void close();
  /// Called when the executor is being destroyed: drops every handler.
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
