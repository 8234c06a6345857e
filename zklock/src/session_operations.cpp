// The operations of Session: validate, submit, decode the reply.
#include "request_checks.hpp"
#include "session_core.hpp"
#include "watch_core.hpp"

#include <zklock/path.hpp>
#include <zklock/session.hpp>

#include <boost/asio/recycling_allocator.hpp>

namespace zklock::detail {

asio::any_io_executor callback_executor(const SessionCore& session) { return session.runtime().callback_executor(); }
void refuse_after_fork(const SessionCore& session) { session.runtime().refuse_after_fork(); }

namespace {

std::string from_server(const SessionHandle& session, const std::string& path) {
  return path.size() <= session.prefix().size() ? "/" : path.substr(session.prefix().size());
}

/// The ACL of a new node. An empty one, which is refused later, if the client's provider throws.
Acl choose_acl(const SessionHandle& session, std::optional<Acl> wanted, const std::string& path) noexcept try {
  if (wanted) return std::move(*wanted);
  const AclProvider& provider = session->config().acl_provider;
  return provider && !find_path_flaw(path) ? provider(full_path(session, path)) : open_acl();
} catch (...) {
  return {};
}

/// "/" with the server's digits behind it is a child of the root, not a brother.
std::string path_to_create(const SessionHandle& session, const std::string& path, CreateMode mode) {
  return is_sequential(mode) && path == "/" ? session.prefix() + "/" : full_path(session, path);
}

/// Makes the request what the server is to see, if nothing is wrong with it.
error_code complete_request(const SessionHandle& session, Request& request) {
  const auto complete = [&](Request& each) {
    if (has_path_flaw(each)) return;
    each.path = each.operation == Operation::create ? path_to_create(session, each.path, each.mode)
                                                    : full_path(session, each.path);
  };
  if (request.operation != Operation::multi) complete(request);
  for (Request& part : request.parts) complete(part);
  return find_fault(request, session->config().max_buffer);
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
    if (const error_code fault = complete_request(session_, request)) return refuse(request, fault);
    about_ = {request.operation, request.path};
    id_ = session_->driver().submit(std::move(request), this->shared_from_this(), watch_);
  }

  void on_reply(Reply& reply) override {
    if (!handler_) return;  // cancelled, and the watch forgotten
    Handler<Results...> handler{std::move(*handler_)};
    handler_.reset();
    if (reply.error) session_->log_failure(about_.operation, about_.path, reply.error);
    std::apply(
        [&](auto&&... values) { deliver(std::move(handler), reply.error, std::forward<decltype(values)>(values)...); },
        decode_(reply, session_, std::move(watch_)));
  }

 private:
  void cancel() {
    if (!handler_) return;
    if (id_) session_->driver().forget(id_);
    if (watch_) session_->driver().forget_watch(*watch_);  // the reply may be there, and only wait to be delivered
    fail_later(make_error_code(asio::error::operation_aborted));
  }

  void refuse(const Request& request, error_code fault) {
    Reply reply{.error = fault};
    for (const Request& part : request.parts) {
      const error_code fault_in_part = find_fault_in_part(part);
      reply.parts.push_back({.error = fault_in_part ? fault_in_part : make_error_code(Error::rolled_back)});
    }
    session_->log_failure(request.operation, request.path, fault);
    complete_later(std::move(reply));
  }

  void fail_later(error_code error) { complete_later(Reply{.error = error}); }

  /// The operation's own decoding says what it completes with.
  void complete_later(Reply reply) {
    Handler<Results...> handler{std::move(*handler_)};
    handler_.reset();
    std::apply(
        [&](auto&&... values) {
          deliver_later(session_->runtime(), std::move(handler), reply.error,
                        std::forward<decltype(values)>(values)...);
        },
        decode_(reply, session_, nullptr));
  }

  SessionHandle session_;
  std::optional<Handler<Results...>> handler_;
  std::shared_ptr<WatchCore> watch_;
  Decode decode_;
  Driver::RequestId id_ = 0;
  struct About {
    Operation operation;
    std::string path;
  } about_{};
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

/// The server says that it has made this: what was asked for, and nothing but digits behind it.
void check_created(Reply& reply, const std::string& asked, CreateMode mode) {
  if (reply.error) return;
  const std::string_view made = reply.path;
  const bool fits = is_sequential(mode) ? made.size() > asked.size() && made.starts_with(asked) &&
                                              made.find('/', asked.size()) == std::string_view::npos
                                        : made == asked;
  if (!fits) reply.error = make_error_code(Error::protocol_error);
}

/// Names that are none would lead out of the directory, or into a path that is refused later.
void check_names(Reply& reply, WatchHandle& watch) {
  if (reply.error) return;
  for (const std::string& name : reply.children) {
    if (!name.empty() && name.find('/') == std::string::npos) continue;
    reply.error = make_error_code(Error::protocol_error);
    static_cast<void>(Watch{std::move(watch)});  // it was set, and nobody will have it
    return;
  }
}

/// Nothing there is an answer, not an error.
std::optional<Stat> to_existence(Reply& reply) {
  if (reply.error == Error::no_node) {
    reply.error = {};
    return std::nullopt;
  }
  return reply.stat;
}

}  // namespace

void start_create(SessionHandle session, std::string path, std::string data, NodeOptions options,
                  Handler<CreateResult> handler) {
  Acl acl = choose_acl(session, std::move(options.acl), path);
  std::string asked = path_to_create(session, path, options.mode);
  Request request{.operation = Operation::create,
                  .path = std::move(path),
                  .data = std::move(data),
                  .mode = options.mode,
                  .ttl = options.ttl,
                  .acl = std::move(acl)};
  launch(std::move(session), std::move(handler), std::move(request), nullptr,
         [asked = std::move(asked), mode = options.mode](Reply& reply, const SessionHandle& from, WatchHandle) {
           check_created(reply, asked, mode);
           return std::tuple{reply.error ? CreateResult{} : CreateResult{from_server(from, reply.path), reply.stat}};
         });
}

void start_remove(SessionHandle session, std::string path, std::int32_t version, Handler<> handler) {
  launch(std::move(session), std::move(handler),
         {.operation = Operation::remove, .path = std::move(path), .version = version}, nullptr,
         [](Reply&, const SessionHandle&, WatchHandle) { return std::tuple{}; });
}

void start_exists(SessionHandle session, std::string path, Handler<std::optional<Stat>> handler) {
  launch(std::move(session), std::move(handler), {.operation = Operation::exists, .path = std::move(path)}, nullptr,
         [](Reply& reply, const SessionHandle&, WatchHandle) { return std::tuple{to_existence(reply)}; });
}

void start_exists_and_watch(SessionHandle session, std::string path, Handler<std::optional<Stat>, Watch> handler) {
  auto watch = make_watch(session, path);
  launch(std::move(session), std::move(handler), {.operation = Operation::exists, .path = std::move(path)},
         std::move(watch), [](Reply& reply, const SessionHandle&, WatchHandle set) {
           auto existence = to_existence(reply);
           return std::tuple{existence, watch_after(reply, std::move(set))};
         });
}

void start_get_data(SessionHandle session, std::string path, Handler<DataResult> handler) {
  launch(std::move(session), std::move(handler), {.operation = Operation::get_data, .path = std::move(path)}, nullptr,
         [](Reply& reply, const SessionHandle&, WatchHandle) {
           return std::tuple{DataResult{std::move(reply.data), reply.stat}};
         });
}

void start_get_data_and_watch(SessionHandle session, std::string path, Handler<DataResult, Watch> handler) {
  auto watch = make_watch(session, path);
  launch(std::move(session), std::move(handler), {.operation = Operation::get_data, .path = std::move(path)},
         std::move(watch), [](Reply& reply, const SessionHandle&, WatchHandle set) {
           return std::tuple{DataResult{std::move(reply.data), reply.stat}, watch_after(reply, std::move(set))};
         });
}

void start_set_data(SessionHandle session, std::string path, std::string data, std::int32_t version,
                    Handler<Stat> handler) {
  launch(std::move(session), std::move(handler),
         {.operation = Operation::set_data, .path = std::move(path), .data = std::move(data), .version = version},
         nullptr, [](Reply& reply, const SessionHandle&, WatchHandle) { return std::tuple{reply.stat}; });
}

void start_get_children(SessionHandle session, std::string path, Handler<ChildrenResult> handler) {
  launch(std::move(session), std::move(handler), {.operation = Operation::get_children, .path = std::move(path)},
         nullptr, [](Reply& reply, const SessionHandle&, WatchHandle none) {
           check_names(reply, none);
           return std::tuple{ChildrenResult{std::move(reply.children), reply.stat}};
         });
}

void start_get_children_and_watch(SessionHandle session, std::string path, Handler<ChildrenResult, Watch> handler) {
  auto watch = make_watch(session, path);
  launch(std::move(session), std::move(handler), {.operation = Operation::get_children, .path = std::move(path)},
         std::move(watch), [](Reply& reply, const SessionHandle&, WatchHandle set) {
           check_names(reply, set);
           return std::tuple{ChildrenResult{std::move(reply.children), reply.stat}, watch_after(reply, std::move(set))};
         });
}

void start_get_acl(SessionHandle session, std::string path, Handler<AclResult> handler) {
  launch(std::move(session), std::move(handler), {.operation = Operation::get_acl, .path = std::move(path)}, nullptr,
         [](Reply& reply, const SessionHandle&, WatchHandle) {
           return std::tuple{AclResult{std::move(reply.acl), reply.stat}};
         });
}

void start_set_acl(SessionHandle session, std::string path, Acl acl, std::int32_t acl_version, Handler<> handler) {
  launch(std::move(session), std::move(handler),
         {.operation = Operation::set_acl, .path = std::move(path), .version = acl_version, .acl = std::move(acl)},
         nullptr, [](Reply&, const SessionHandle&, WatchHandle) { return std::tuple{}; });
}

namespace {

constexpr const char* config_node = "/zookeeper/config";

SessionHandle without_prefix(SessionHandle session) {
  return session.prefix().empty() ? session : SessionHandle{session.core(), {}};
}

}  // namespace

void start_get_config(SessionHandle session, Handler<DataResult> handler) {
  start_get_data(without_prefix(std::move(session)), config_node, std::move(handler));
}

void start_get_config_and_watch(SessionHandle session, Handler<DataResult, Watch> handler) {
  start_get_data_and_watch(without_prefix(std::move(session)), config_node, std::move(handler));
}

namespace {

Request to_request(const SessionHandle& session, const Transaction::Operation& operation) {
  Request request{.path = operation.path, .data = operation.data, .mode = operation.mode, .version = operation.version};
  switch (operation.kind) {
    case Transaction::Kind::create:
      request.operation = Operation::create;
      request.acl = choose_acl(session, operation.acl, operation.path);
      break;
    case Transaction::Kind::remove: request.operation = Operation::remove; break;
    case Transaction::Kind::set_data: request.operation = Operation::set_data; break;
    case Transaction::Kind::check: request.operation = Operation::check; break;
  }
  return request;
}

}  // namespace

void start_commit(SessionHandle session, Transaction transaction, Handler<TransactionResults> handler) {
  Request request{.operation = Operation::multi};
  for (const auto& operation : transaction.operations()) request.parts.push_back(to_request(session, operation));
  const std::size_t size = request.parts.size();
  launch(
      std::move(session), std::move(handler), std::move(request), nullptr,
      [size](Reply& reply, const SessionHandle& from, WatchHandle) {
        TransactionResults results;
        for (const Reply& part : reply.parts)
          results.push_back({part.error, part.path.empty() ? std::string{} : from_server(from, part.path), part.stat});
        if (results.empty()) results.resize(size, {reply.error, {}, {}});
        return std::tuple{std::move(results)};
      });
}

void start_sync(SessionHandle session, std::string path, Handler<> handler) {
  launch(std::move(session), std::move(handler), {.operation = Operation::sync, .path = std::move(path)}, nullptr,
         [](Reply&, const SessionHandle&, WatchHandle) { return std::tuple{}; });
}

}  // namespace zklock::detail
