#include "handoff.hpp"

#include <zklock/recipe_kit/session_ops.hpp>

#include <string>
#include <utility>

namespace zklock {

namespace {

using Results = std::vector<TransactionResult>;

Transaction handoff_of(const std::string& path, const Successors& successors) {
  Transaction transaction;
  for (const auto& successor : successors) transaction.check(successor->path());
  transaction.remove(path);
  return transaction;
}

/// Tells each successor what the reply tells of its node. If one part has failed, that part alone tells something; if
/// the reply was lost, none does.
void tell(const Successors& successors, const Results& results) {
  for (std::size_t i = 0; i < successors.size(); ++i) successors[i]->learn(fact_of(results[i].error));
}

}  // namespace

void hand_off_in_background(Session session, std::shared_ptr<LocalWaiter> leaving, Successors successors,
                            std::function<void(error_code)> removed) {
  Transaction transaction = handoff_of(leaving->path(), successors);
  auto tried = [session, leaving = std::move(leaving), successors = std::move(successors),
                removed = std::move(removed)](error_code error, const Results& results) {
    tell(successors, results);
    // If this transaction may have deleted the node, a further try that finds no node proves nothing.
    const bool was_not_applied = error && outcome_of(error) == Outcome::not_applied;
    if (!was_not_applied) removed(error);
    if (error) remove_in_background(session, leaving->path(), was_not_applied ? removed : nullptr);
  };
  session.async_commit(std::move(transaction), asio::bind_executor(session.get_executor(), std::move(tried)));
}

Awaitable<error_code> hand_off_guaranteed(Session session, std::shared_ptr<LocalWaiter> leaving,
                                          Successors successors) {
  Transaction transaction = handoff_of(leaving->path(), successors);
  co_await wait_for_link(session);
  auto [error, results] = co_await session.async_commit(std::move(transaction), use_tuple);
  tell(successors, results);
  if (!error) co_return error_code{};
  const error_code removed = co_await remove_guaranteed(session, leaving->path());
  const bool was_us = removed == Error::no_node && outcome_of(error) == Outcome::ambiguous;
  co_return was_us ? error_code{} : removed;
}

}  // namespace zklock
