#include "hand_over.hpp"

#include <zklock/detail/steps.hpp>

#include <utility>

namespace zklock {

namespace {

using Results = std::vector<TransactionResult>;

Transaction handing_over(const std::string& path, const Sibling& heir) {
  Transaction transaction;
  transaction.check(heir.path()).remove(path);
  return transaction;
}

/// What the outcome says to the heir: its own node is missing, or else ours was.
error_code seen_of_heir(error_code outcome, const Results& results) {
  const bool is_missing = !results.empty() && results.front().error == Error::no_node;
  return outcome == Error::no_node && !is_missing ? make_error_code(Error::lock_lost) : outcome;
}

}  // namespace

void hand_over_in_background(Session session, std::string path, std::shared_ptr<Sibling> heir) {
  Transaction transaction = handing_over(path, *heir);
  auto told = [session, path = std::move(path), heir = std::move(heir)](error_code error, const Results& results) {
    heir->see(seen_of_heir(error, results));
    if (error) remove_in_background(session, path);
  };
  session.async_commit(std::move(transaction), asio::bind_executor(session.get_executor(), std::move(told)));
}

Awaitable<error_code> hand_over_for_sure(Session session, std::string path, std::shared_ptr<Sibling> heir) {
  Transaction transaction = handing_over(path, *heir);
  auto [error, results] = co_await session.async_commit(std::move(transaction), use_tuple);
  heir->see(seen_of_heir(error, results));
  if (!error) co_return error_code{};
  const error_code removed = co_await remove_for_sure(session, path);
  const bool was_us = removed == Error::no_node && outcome_of(error) == Outcome::ambiguous;
  co_return was_us ? error_code{} : removed;
}

}  // namespace zklock
