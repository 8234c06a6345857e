// The operations of a Client that may be repeated without harm.
#include "client_coroutines.hpp"

namespace zklock::detail {

void start_client_exists(ClientRef client, std::string path, Handler<Existence> handler) {
  run(client, std::move(handler), repeat<Existence>(client, "exists", path, [path](Session session) {
        return session.async_exists(path, use_tuple);
      }));
}

void start_client_exists_and_watch(ClientRef client, std::string path, Handler<Existence, Watch> handler) {
  run(client, std::move(handler), repeat<Existence, Watch>(client, "exists", path, [path](Session session) {
        return session.async_exists_and_watch(path, use_tuple);
      }));
}

namespace {

Awaitable<Result<Outcomes<DataResult>>> get_data(ClientRef client, std::string path, GetDataOptions options) {
  // A lambda inside the co_await expression would be destroyed twice by GCC 12.
  auto step = [path](Session session) { return session.async_get_data(path, use_tuple); };
  auto outcome = co_await repeat<DataResult>(client, "get_data", path, std::move(step));
  if (!outcome) co_return outcome.error();
  DataResult& node = std::get<0>(*outcome);
  auto data = decoded(client, options.compression, std::move(node.data));
  if (!data) co_return data.error();
  node.data = std::move(*data);
  co_return std::move(outcome);
}

}  // namespace

void start_client_get_data(ClientRef client, std::string path, GetDataOptions options, Handler<DataResult> handler) {
  run(client, std::move(handler), get_data(client, std::move(path), options));
}

void start_client_get_data_and_watch(ClientRef client, std::string path, Handler<DataResult, Watch> handler) {
  run(client, std::move(handler), repeat<DataResult, Watch>(client, "get_data", path, [path](Session session) {
        return session.async_get_data_and_watch(path, use_tuple);
      }));
}

void start_client_get_children(ClientRef client, std::string path, Handler<ChildrenResult> handler) {
  run(client, std::move(handler), repeat<ChildrenResult>(client, "get_children", path, [path](Session session) {
        return session.async_get_children(path, use_tuple);
      }));
}

void start_client_get_children_and_watch(ClientRef client, std::string path, Handler<ChildrenResult, Watch> handler) {
  run(client, std::move(handler), repeat<ChildrenResult, Watch>(client, "get_children", path, [path](Session session) {
        return session.async_get_children_and_watch(path, use_tuple);
      }));
}

void start_client_get_acl(ClientRef client, std::string path, Handler<AclResult> handler) {
  run(client, std::move(handler), repeat<AclResult>(client, "get_acl", path, [path](Session session) {
        return session.async_get_acl(path, use_tuple);
      }));
}

void start_client_sync(ClientRef client, std::string path, Handler<> handler) {
  run(client, std::move(handler),
      repeat<>(client, "sync", path, [path](Session session) { return session.async_sync(path, use_tuple); }));
}

}  // namespace zklock::detail
