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

void hand_off(Session session, std::shared_ptr<LocalWaiter> leaving, Successors successors,
              std::function<void(error_code)> removed) {
  Transaction transaction = handoff_of(leaving->path(), successors);
  auto tried = [session, leaving = std::move(leaving), successors = std::move(successors),
                removed = std::move(removed)](error_code error, const Results& results) {
    tell(successors, results);
    if (!error) return removed(error);
    remove_in_background(session, leaving->path(), removed, outcome_of(error));
  };
  session.async_commit(std::move(transaction), asio::bind_executor(session.get_executor(), std::move(tried)));
}

}  // namespace zklock
