// The operations of a Client that change one node or several.
#include "ambiguous_outcome.hpp"
#include "client_coroutines.hpp"

#include <zklock/recipe_kit/session_ops.hpp>

namespace zklock::detail {

namespace {

/// Whether the node is as this write would have left it. The version is used up, by this call or by another client,
/// which may have written the same.
bool is_as_written(const DataResult& node, const std::string& data, std::int32_t version) {
  return node.data == data && node.stat.version == std::int64_t{version} + 1;
}

Awaitable<Result<Outcomes<Stat>>> set_data(ClientRef client, std::string path, std::string data,
                                           SetDataOptions options) {
  auto packed = encoded(client, options.compression, std::move(data));
  if (!packed) co_return packed.error();
  data = std::move(*packed);
  const ClientHandle handle{client};
  AmbiguousOutcome ambiguous;
  for (Tries loop{handle, "set_data", path};;) {
    const auto session = co_await loop.session();
    if (!session) co_return ambiguous.end(session.error());
    auto [error, stat] = co_await session->async_set_data(path, data, options.version, use_tuple);
    if (!error) co_return Outcomes<Stat>{stat};
    if (error == Error::bad_version && options.idempotence == SetDataOptions::Idempotence::on) {
      auto [unread, node] = co_await session->async_get_data(path, use_tuple);
      if (!unread && is_as_written(node, data, options.version)) co_return Outcomes<Stat>{node.stat};
      if (may_try_again(unread)) error = unread;
    }
    if (!may_try_again(error)) co_return ambiguous.end(error);
    ambiguous.note(error);
    if (const error_code final_error = co_await loop.next(error)) co_return ambiguous.end(final_error);
  }
}

Awaitable<Result<Outcomes<>>> set_acl(ClientRef client, std::string path, Acl acl, std::int32_t acl_version) {
  const ClientHandle handle{client};
  AmbiguousOutcome ambiguous;
  for (Tries loop{handle, "set_acl", path};;) {
    const auto session = co_await loop.session();
    if (!session) co_return ambiguous.end(session.error());
    const auto [error] = co_await session->async_set_acl(path, acl, acl_version, use_tuple);
    if (!error) co_return Outcomes<>{};
    if (!may_try_again(error)) co_return ambiguous.end(error);
    ambiguous.note(error);
    if (const error_code final_error = co_await loop.next(error)) co_return ambiguous.end(final_error);
  }
}

using Committed = std::tuple<error_code, TransactionResults>;

/// The first create whose parent is missing. The parent may be the namespace's own node.
const Transaction::Operation* find_create_without_parent(const Transaction& transaction,
                                                         const TransactionResults& results) {
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].error == Error::no_node && transaction.operations()[i].kind == Transaction::Kind::create)
      return &transaction.operations()[i];
  return nullptr;
}

/// The namespace's own node is created when something is first created in the namespace.
Awaitable<Committed> commit_once(ClientRef client, Session session, const Transaction& transaction) {
  auto committed = co_await session.async_commit(transaction, use_tuple);
  const auto* lost = find_create_without_parent(transaction, std::get<1>(committed));
  if (!lost || client.name_space().empty()) co_return committed;
  NodeOptions container{CreateMode::container};
  container.acl = lost->acl;
  if (co_await create_path(session, "/", std::move(container))) co_return committed;
  co_return co_await session.async_commit(transaction, use_tuple);
}

/// A lookup cannot tell whether a transaction was carried out, so it is repeated only if it certainly was not.
Awaitable<Result<Outcomes<TransactionResults>>> commit(ClientRef client, Transaction transaction,
                                                       std::shared_ptr<TransactionResults> results) {
  const ClientHandle handle{client};
  const std::string path = transaction.operations().empty() ? "/" : transaction.operations().front().path;
  for (Tries loop{handle, "commit", path};;) {
    const auto session = co_await loop.session();
    if (!session) co_return session.error();
    auto [error, done] = co_await commit_once(client, *session, transaction);
    *results = std::move(done);
    if (!error) co_return Outcomes<TransactionResults>{*results};
    if (!may_try_again(error) || outcome_of(error) == Outcome::ambiguous) co_return error;
    if (const error_code final_error = co_await loop.next(error)) co_return final_error;
  }
}

/// Passes on the results of a failed transaction, too.
Handler<TransactionResults> with_results(Handler<TransactionResults> handler,
                                         std::shared_ptr<TransactionResults> results) {
  auto slot = asio::get_associated_cancellation_slot(handler);
  return asio::bind_cancellation_slot(
      slot, [handler = std::move(handler), results = std::move(results)](error_code error, TransactionResults) mutable {
        for (TransactionResult& each : *results)
          if (error && !each.error) each.error = error;  // no server has answered for this part
        std::move(handler)(error, std::move(*results));
      });
}

}  // namespace

void start_client_set_data(ClientRef client, std::string path, std::string data, SetDataOptions options,
                           Handler<Stat> handler) {
  run(client, std::move(handler), set_data(client, std::move(path), std::move(data), options));
}

void start_client_set_acl(ClientRef client, std::string path, Acl acl, std::int32_t acl_version, Handler<> handler) {
  run(client, std::move(handler), set_acl(client, std::move(path), std::move(acl), acl_version));
}

void start_client_commit(ClientRef client, Transaction transaction, Handler<TransactionResults> handler) {
  auto results = std::make_shared<TransactionResults>(transaction.operations().size());
  run(client, with_results(std::move(handler), results), commit(client, std::move(transaction), results));
}

}  // namespace zklock::detail
