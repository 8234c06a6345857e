// The operations of Session: validate, submit, decode the reply.
#include "session_core.hpp"
#include "watch_core.hpp"

#include <zklock/path.hpp>
#include <zklock/session.hpp>

#include <boost/asio/recycling_allocator.hpp>

namespace zklock::detail {

asio::any_io_executor callback_executor(const SessionCore& session) { return session.runtime().callback_executor(); }

namespace {

// The server's default jute.maxbuffer, less room for the request's other fields: a larger frame would cost the
// connection (83).
constexpr std::size_t max_frame = 1'048'575 - 1'024;

// What fits beside the server's marks in a node's owner field (EphemeralType of ZooKeeper 3.8).
constexpr std::chrono::milliseconds longest_ttl{(std::int64_t{1} << 40) - 1};

error_code find_fault(const Request& request) {
  if (find_path_flaw(request.path)) return make_error_code(Error::invalid_path);
  if (request.path.size() + request.data.size() > max_frame) return make_error_code(Error::payload_too_large);
  if (request.operation == Operation::create && has_ttl(request.mode) != (request.ttl != std::chrono::milliseconds{0}))
    return make_error_code(Error::invalid_create_mode);
  if (request.ttl < std::chrono::milliseconds{0} || request.ttl > longest_ttl)
    return make_error_code(Error::invalid_timeout);
  return {};
}

/// One request under way: the caller's handler, and the way back to it. Lives in the driver until the reply, or until
/// cancelled.
template <class Decode, class... Results>
class Pending final : public ReplySink, public std::enable_shared_from_this<Pending<Decode, Results...>> {
 public:
  Pending(SessionHandle session, Handler<Results...>&& handler, std::shared_ptr<WatchCore> watch, Decode decode)
      : session_{std::move(session)},
        handler_{std::move(handler)},
        watch_{std::move(watch)},
        decode_{std::move(decode)} {}

  void follow_cancellation() {
    on_cancellation(*handler_, [weak = this->weak_from_this(), serial = session_->runtime().serial()] {
      asio::dispatch(serial, [weak] {
        if (const auto self = weak.lock()) self->cancel();
      });
    });
  }

  void submit(Request request) {
    if (!handler_) return;  // cancelled before it came here
    if (const error_code fault = find_fault(request)) return fail_later(fault);
    request.path = session_->to_server(request.path);
    id_ = session_->driver().submit(std::move(request), this->shared_from_this(), watch_);
  }

  void on_reply(Reply& reply) override {
    if (!handler_) return;  // cancelled, and the watch forgotten
    Handler<Results...> handler{std::move(*handler_)};
    handler_.reset();
    std::apply(
        [&](auto&&... values) { deliver(std::move(handler), reply.error, std::forward<decltype(values)>(values)...); },
        decode_(reply, *session_, std::move(watch_)));
  }

 private:
  void cancel() {
    if (!handler_) return;
    if (id_) session_->driver().forget(id_);
    if (watch_) session_->driver().forget_watch(*watch_);  // the reply may be there, and only wait to be delivered
    fail_later(make_error_code(asio::error::operation_aborted));
  }

  void fail_later(error_code error) {
    Handler<Results...> handler{std::move(*handler_)};
    handler_.reset();
    deliver_later(session_->runtime().serial(), std::move(handler), error, Results{}...);
  }

  SessionHandle session_;
  std::optional<Handler<Results...>> handler_;
  std::shared_ptr<WatchCore> watch_;
  Decode decode_;
  Driver::RequestId id_ = 0;
};

/// `decode(reply, session, watch)` makes the tuple of results; it may also change reply.error.
template <class... Results, class Decode>
void launch(SessionHandle session, Handler<Results...>&& handler, Request request, std::shared_ptr<WatchCore> watch,
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

using WatchHandle = std::shared_ptr<WatchCore>;

WatchHandle make_watch(const SessionHandle& session, const std::string& path) {
  return std::make_shared<WatchCore>(session, path);
}

/// A watch that exists only if the read succeeded.
Watch watch_after(const Reply& reply, WatchHandle watch) { return reply.error ? Watch{} : Watch{std::move(watch)}; }

/// Nothing there is an answer, not an error.
std::optional<Stat> to_existence(Reply& reply) {
  if (reply.error == Error::no_node) {
    reply.error = {};
    return std::nullopt;
  }
  return reply.stat;
}

}  // namespace

void start_create(SessionHandle session, std::string path, std::string data, CreateMode mode,
                  std::chrono::milliseconds ttl, Handler<CreateResult> handler) {
  Request request{
      .operation = Operation::create, .path = std::move(path), .data = std::move(data), .mode = mode, .ttl = ttl};
  launch(std::move(session), std::move(handler), std::move(request), nullptr,
         [](Reply& reply, SessionCore& core, WatchHandle) {
           return std::tuple{reply.error ? CreateResult{}
                                         : CreateResult{core.from_server(std::move(reply.path)), reply.stat}};
         });
}

void start_remove(SessionHandle session, std::string path, std::int32_t version, Handler<> handler) {
  launch(std::move(session), std::move(handler),
         {.operation = Operation::remove, .path = std::move(path), .version = version}, nullptr,
         [](Reply&, SessionCore&, WatchHandle) { return std::tuple{}; });
}

void start_exists(SessionHandle session, std::string path, Handler<std::optional<Stat>> handler) {
  launch(std::move(session), std::move(handler), {Operation::exists, std::move(path)}, nullptr,
         [](Reply& reply, SessionCore&, WatchHandle) { return std::tuple{to_existence(reply)}; });
}

void start_exists_and_watch(SessionHandle session, std::string path, Handler<std::optional<Stat>, Watch> handler) {
  auto watch = make_watch(session, path);
  launch(std::move(session), std::move(handler), {Operation::exists, std::move(path)}, std::move(watch),
         [](Reply& reply, SessionCore&, WatchHandle set) {
           auto existence = to_existence(reply);
           return std::tuple{existence, watch_after(reply, std::move(set))};
         });
}

void start_get_data(SessionHandle session, std::string path, Handler<DataResult> handler) {
  launch(std::move(session), std::move(handler), {Operation::get_data, std::move(path)}, nullptr,
         [](Reply& reply, SessionCore&, WatchHandle) {
           return std::tuple{DataResult{std::move(reply.data), reply.stat}};
         });
}

void start_get_data_and_watch(SessionHandle session, std::string path, Handler<DataResult, Watch> handler) {
  auto watch = make_watch(session, path);
  launch(std::move(session), std::move(handler), {Operation::get_data, std::move(path)}, std::move(watch),
         [](Reply& reply, SessionCore&, WatchHandle set) {
           return std::tuple{DataResult{std::move(reply.data), reply.stat}, watch_after(reply, std::move(set))};
         });
}

void start_set_data(SessionHandle session, std::string path, std::string data, std::int32_t version,
                    Handler<Stat> handler) {
  launch(std::move(session), std::move(handler),
         {.operation = Operation::set_data, .path = std::move(path), .data = std::move(data), .version = version},
         nullptr, [](Reply& reply, SessionCore&, WatchHandle) { return std::tuple{reply.stat}; });
}

void start_get_children(SessionHandle session, std::string path, Handler<Children> handler) {
  launch(std::move(session), std::move(handler), {Operation::get_children, std::move(path)}, nullptr,
         [](Reply& reply, SessionCore&, WatchHandle) { return std::tuple{std::move(reply.children)}; });
}

void start_get_children_and_watch(SessionHandle session, std::string path, Handler<Children, Watch> handler) {
  auto watch = make_watch(session, path);
  launch(std::move(session), std::move(handler), {Operation::get_children, std::move(path)}, std::move(watch),
         [](Reply& reply, SessionCore&, WatchHandle set) {
           return std::tuple{std::move(reply.children), watch_after(reply, std::move(set))};
         });
}

void start_sync(SessionHandle session, std::string path, Handler<> handler) {
  launch(std::move(session), std::move(handler), {Operation::sync, std::move(path)}, nullptr,
         [](Reply&, SessionCore&, WatchHandle) { return std::tuple{}; });
}

}  // namespace zklock::detail
