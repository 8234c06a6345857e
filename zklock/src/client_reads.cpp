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

void start_client_get_data(ClientRef client, std::string path, Handler<DataResult> handler) {
  run(client, std::move(handler), repeat<DataResult>(client, "get_data", path, [path](Session session) {
        return session.async_get_data(path, use_tuple);
      }));
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
