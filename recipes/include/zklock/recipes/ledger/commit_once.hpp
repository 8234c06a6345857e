// Transactions that are carried out exactly once, although replies and sessions are lost.
#pragma once

#include <zklock/client.hpp>
#include <zklock/recipe_kit/recipe_core.hpp>
#include <zklock/results.hpp>
#include <zklock/transaction.hpp>

#include <memory>
#include <string>
#include <utility>

namespace zklock {

/// Names a piece of work, such as an order's number. The name is one of the program's own, of any characters that a path
/// may have. `answer` is kept with it: a client that repeats the work gets it back.
struct IdempotencyKey {
  std::string name;
  std::string answer;

  explicit IdempotencyKey(std::string with_name, std::string with_answer = {})
      : name{std::move(with_name)}, answer{std::move(with_answer)} {}
};

/// What has come of a transaction.
struct CommitOnceResult {
  /// One for each operation. Where the reply was lost, the ledger has told that the transaction was carried out: then the
  /// Stats are empty, and so are the paths of sequential nodes.
  TransactionResults results{};
  /// The work of this key was done before, here or in another process: nothing was done now, and there are no results.
  bool is_repeat = false;
  /// The key's answer: the given one, or that of the call that did the work.
  std::string answer{};
};

namespace detail {
using OnceCore = std::shared_ptr<RecipeCore>;
[[nodiscard]] OnceCore once_core(const ClientHandle& client, const Transaction& transaction);
void start_commit_once(OnceCore core, Transaction transaction, Handler<CommitOnceResult> handler);
void start_commit_once_by_key(OnceCore core, Transaction transaction, IdempotencyKey key,
                              Handler<CommitOnceResult> handler);
}  // namespace detail

/// Carries out all operations of the transaction, once, or none of them. After a lost reply, also over the end of a
/// session, a node of the client's in ClientConfig::ledger_path tells whether it was carried out: docs/transactions.md.
/// That costs no more round trips than ClientOperations::async_commit, but for the first of several at once.
///
/// Signature     void(error_code, CommitOnceResult)
/// Completes     with success if it was carried out. A definite error (outcome_of) says that it was not, and never will
///               be.
/// Errors        as Session::async_commit; timed_out after ClientConfig::operation_timeout: not carried out. Where the
///               client cannot tell, because it has no connection, its retry policy makes no more tries, or it is
///               closed, an ambiguous error.
/// Cancellation  terminal, partial, total: completes at once; the transaction may be carried out all the same, once.
/// Threads       any thread may call it; the handler runs on its associated executor.
template <asio::completion_token_for<void(error_code, CommitOnceResult)> Token = asio::deferred_t>
auto async_commit_once(const ClientHandle& client, Transaction transaction, Token&& token = {}) {
  auto core = detail::once_core(client, transaction);
  return detail::initiate<void(error_code, CommitOnceResult), &detail::start_commit_once>(
      std::forward<Token>(token), std::move(core), std::move(transaction));
}

/// The same, and only if no transaction with this key was carried out before by any process. The key is kept for a week.
///
/// Errors        as above; invalid_name: the key's name cannot be a part of a path
template <asio::completion_token_for<void(error_code, CommitOnceResult)> Token = asio::deferred_t>
auto async_commit_once(const ClientHandle& client, Transaction transaction, IdempotencyKey key, Token&& token = {}) {
  auto core = detail::once_core(client, transaction);
  return detail::initiate<void(error_code, CommitOnceResult), &detail::start_commit_once_by_key>(
      std::forward<Token>(token), std::move(core), std::move(transaction), std::move(key));
}

// The same, blocking: they throw boost::system::system_error with the errors above, and Error::blocking_in_handler on a
// thread that the client's work needs; Error::executor_not_running.

CommitOnceResult commit_once(const ClientHandle& client, Transaction transaction);
CommitOnceResult commit_once(const ClientHandle& client, Transaction transaction, IdempotencyKey key);

}  // namespace zklock
