// A request of a Session under way.
#pragma once

#include "completion.hpp"
#include "request_checks.hpp"
#include "request_trace.hpp"
#include "session_request.hpp"
#include "watch_core.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/recycling_allocator.hpp>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace zklock::detail {

/// Brings a reply to the caller's handler. The driver keeps it until the reply comes or the request is cancelled.
template <class Decode, class... Results>
class Pending final : public ReplySink, public std::enable_shared_from_this<Pending<Decode, Results...>> {
 public:
  Pending(SessionHandle session, Handler<Results...>&& handler, std::shared_ptr<WatchSink> watch, Decode decode)
      : session_{std::move(session)},
        handler_{std::move(handler)},
        watch_{std::move(watch)},
        decode_{std::move(decode)} {}
  ~Pending() override {
    if (trace_.has_begun() && !session_->runtime().in_forked_child())
      trace_.end(*session_, about_, Reply{.error = make_error_code(asio::error::operation_aborted)}, {}, false);
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  void follow_cancellation() {
    on_cancellation(*handler_, [weak = this->weak_from_this(), serial = session_->runtime().serial()] {
      asio::dispatch(serial, [weak] {
        if (const auto self = weak.lock()) self->cancel();
      });
    });
  }

  void submit(Request request) {
    if (!handler_) return;  // cancelled before it ran
    const error_code fault = complete_request(session_, request);
    about_ = {request.operation, request.path};
    if (session_->observers()) trace_.begin(*session_, request);
    if (fault) return refuse(request, fault);
    id_ = session_->driver().submit(std::move(request), this->shared_from_this(), watch_);
  }

  void on_reply(Reply& reply) override {
    if (!handler_) return;  // cancelled, and the watch is forgotten
    Handler<Results...> handler{std::move(*handler_)};
    handler_.reset();
    if (reply.error) session_->log_failure(about_.operation, about_.path, reply.error);
    const bool is_watch = watch_ != nullptr;
    const auto content = trace_.has_begun() ? RequestTrace::content_of(reply) : RequestTrace::Content{};
    std::apply(
        [&](auto&&... values) { deliver(std::move(handler), reply.error, std::forward<decltype(values)>(values)...); },
        decode_(reply, session_, std::move(watch_)));
    if (trace_.has_begun()) trace_.end(*session_, about_, reply, content, is_watch && !reply.error);
  }

 private:
  void cancel() {
    if (!handler_) return;
    if (id_) session_->driver().forget(id_);
    if (watch_)  // the reply may have arrived and wait for its delivery
      session_->driver().forget_watch(*watch_, {watch_kind(about_.operation), about_.path});
    fail_later(make_error_code(asio::error::operation_aborted));
  }

  void refuse(const Request& request, error_code fault) {
    Reply reply{.error = fault};
    for (const Request& part : request.parts) {
      const error_code fault_in_part = validate_part(part);
      reply.parts.push_back({.error = fault_in_part ? fault_in_part : make_error_code(Error::rolled_back)});
    }
    session_->log_failure(request.operation, request.path, fault);
    complete_later(std::move(reply));
  }

  void fail_later(error_code error) { complete_later(Reply{.error = error}); }

  /// The operation's own decoder determines the results.
  void complete_later(Reply reply) {
    Handler<Results...> handler{std::move(*handler_)};
    handler_.reset();
    std::apply(
        [&](auto&&... values) {
          deliver_later(session_->runtime(), std::move(handler), reply.error,
                        std::forward<decltype(values)>(values)...);
        },
        decode_(reply, session_, nullptr));
    if (trace_.has_begun()) trace_.end(*session_, about_, reply, {}, false);
  }

  SessionHandle session_;
  std::optional<Handler<Results...>> handler_;
  std::shared_ptr<WatchSink> watch_;
  Decode decode_;
  Driver::RequestId id_ = 0;
  RequestName about_{};
  RequestTrace trace_;
};

/// `decode(reply, session, watch)` makes the tuple of results; it may also change reply.error.
template <class... Results, class Decode>
void launch(SessionHandle session, Handler<Results...>&& handler, Request request, std::shared_ptr<WatchSink> watch,
            Decode decode) {
  using Operation = Pending<Decode, Results...>;
  const auto serial = session->runtime().serial();
  auto operation = std::allocate_shared<Operation>(asio::recycling_allocator<void>(), std::move(session),
                                                   std::move(handler), std::move(watch), std::move(decode));
  operation->follow_cancellation();
  asio::dispatch(serial, [operation = std::move(operation), request = std::move(request)]() mutable {
    operation->submit(std::move(request));
  });
}

}  // namespace zklock::detail
