// The operations of Session: the request of each, and how its reply is decoded.
#include "pending_request.hpp"

#include <zklock/recipe_kit/watch_listener.hpp>
#include <zklock/session.hpp>

#include <algorithm>

namespace zklock::detail {

Runtime& home_of(const SessionCore& session) { return session.runtime(); }

namespace {

/// Of the reads below: a WatchCore, the set's own core, or none.
using WatchHandle = std::shared_ptr<WatchSink>;

WatchHandle make_watch(const SessionHandle& session, WatchKind kind, const std::string& path) {
  return std::make_shared<WatchCore>(session, kind, path);
}

/// Of a read with make_watch(): makes a watch only if the read succeeded.
Watch watch_after(const Reply& reply, WatchHandle watch) {
  return reply.error ? Watch{} : Watch{std::static_pointer_cast<WatchCore>(std::move(watch))};
}

/// Checks the path that the server reports: the requested one, followed by nothing but digits.
void check_created(Reply& reply, const std::string& asked, CreateMode mode) {
  if (reply.error) return;
  const std::string_view made = reply.path;
  const bool fits = is_sequential(mode) ? made.size() > asked.size() && made.starts_with(asked) &&
                                              made.find('/', asked.size()) == std::string_view::npos
                                        : made == asked;
  if (!fits) reply.error = make_error_code(Error::protocol_error);
}

/// Invalid names would lead out of the directory, or into a path that is refused later.
void check_names(Reply& reply) {
  if (reply.error) return;
  const auto is_valid = [](const std::string& name) { return !name.empty() && name.find('/') == std::string::npos; };
  if (!std::ranges::all_of(reply.children, is_valid)) reply.error = make_error_code(Error::protocol_error);
}

/// A missing node is a result, not an error.
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
  Acl acl = choose_acl(session, std::move(options.acl), path, options.mode);
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

namespace {

// Reads without a Watch for the caller: `watch` is null, or a set's.

void read_existence(SessionHandle session, std::string path, WatchHandle watch, Handler<std::optional<Stat>> handler) {
  launch(std::move(session), std::move(handler), {.operation = Operation::exists, .path = std::move(path)},
         std::move(watch),
         [](Reply& reply, const SessionHandle&, WatchHandle) { return std::tuple{to_existence(reply)}; });
}

void read_data(SessionHandle session, std::string path, WatchHandle watch, Handler<DataResult> handler) {
  launch(std::move(session), std::move(handler), {.operation = Operation::get_data, .path = std::move(path)},
         std::move(watch), [](Reply& reply, const SessionHandle&, WatchHandle) {
           return std::tuple{DataResult{std::move(reply.data), reply.stat}};
         });
}

void read_children(SessionHandle session, std::string path, WatchHandle watch, Handler<ChildrenResult> handler) {
  launch(std::move(session), std::move(handler), {.operation = Operation::get_children, .path = std::move(path)},
         std::move(watch), [](Reply& reply, const SessionHandle&, WatchHandle) {
           check_names(reply);
           return std::tuple{ChildrenResult{std::move(reply.children), reply.stat}};
         });
}

}  // namespace

void start_exists(SessionHandle session, std::string path, Handler<std::optional<Stat>> handler) {
  read_existence(std::move(session), std::move(path), nullptr, std::move(handler));
}

void start_exists_and_watch(SessionHandle session, std::string path, Handler<std::optional<Stat>, Watch> handler) {
  auto watch = make_watch(session, WatchKind::data, path);
  launch(std::move(session), std::move(handler), {.operation = Operation::exists, .path = std::move(path)},
         std::move(watch), [](Reply& reply, const SessionHandle&, WatchHandle set) {
           auto existence = to_existence(reply);
           return std::tuple{existence, watch_after(reply, std::move(set))};
         });
}

void start_get_data(SessionHandle session, std::string path, Handler<DataResult> handler) {
  read_data(std::move(session), std::move(path), nullptr, std::move(handler));
}

void start_get_data_and_watch(SessionHandle session, std::string path, Handler<DataResult, Watch> handler) {
  auto watch = make_watch(session, WatchKind::data, path);
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
  read_children(std::move(session), std::move(path), nullptr, std::move(handler));
}

void start_get_children_and_watch(SessionHandle session, std::string path, Handler<ChildrenResult, Watch> handler) {
  auto watch = make_watch(session, WatchKind::children, path);
  launch(std::move(session), std::move(handler), {.operation = Operation::get_children, .path = std::move(path)},
         std::move(watch), [](Reply& reply, const SessionHandle&, WatchHandle set) {
           Watch result = watch_after(reply, std::move(set));
           check_names(reply);
           if (reply.error) result = {};  // it was set, but the caller does not get it
           return std::tuple{ChildrenResult{std::move(reply.children), reply.stat}, std::move(result)};
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
      request.acl = choose_acl(session, operation.acl, operation.path, operation.mode);
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

namespace zklock {

WatchSet::WatchSet(const Session& session, std::weak_ptr<WatchListener> listener)
    : core_{std::make_shared<detail::WatchSetCore>(session.core_, std::move(listener))} {}

void WatchSet::exists(std::string path, detail::Handler<std::optional<Stat>> handler) const {
  detail::read_existence(core_->session(), std::move(path), core_, std::move(handler));
}

void WatchSet::get_data(std::string path, detail::Handler<DataResult> handler) const {
  detail::read_data(core_->session(), std::move(path), core_, std::move(handler));
}

void WatchSet::get_children(std::string path, detail::Handler<ChildrenResult> handler) const {
  detail::read_children(core_->session(), std::move(path), core_, std::move(handler));
}

void WatchSet::forget(WatchKind kind, const std::string& path) const {
  if (core_) core_->forget(kind, path);
}

void WatchSet::close() noexcept {
  if (core_) core_->close();
}

}  // namespace zklock
