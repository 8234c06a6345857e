#include "hand_over.hpp"

#include <zklock/detail/steps.hpp>

#include <string>
#include <utility>

namespace zklock {

namespace {

using Results = std::vector<TransactionResult>;

Transaction handing_over(const std::string& path, const Heirs& heirs) {
  Transaction transaction;
  for (const auto& heir : heirs) transaction.check(heir->path());
  transaction.remove(path);
  return transaction;
}

/// What the outcome says to each: that its own node is missing, or ours was, or somebody else's, which says nothing.
/// And where our own place has proved worthless, so is what we leave.
void tell(const Sibling& leaving, const Heirs& heirs, error_code outcome, const Results& results) {
  const bool is_told = results.size() == heirs.size() + 1;
  const bool is_worthless = leaving.was_misled() || (is_told && results.back().error == Error::no_node);
  for (std::size_t i = 0; i < heirs.size(); ++i) {
    const error_code seen = is_told ? results[i].error : outcome;
    heirs[i]->see(is_worthless ? make_error_code(Error::lock_lost) : seen);
  }
}

}  // namespace

void hand_over_in_background(Session session, std::shared_ptr<Sibling> leaving, Heirs heirs,
                             std::function<void(error_code)> removed) {
  Transaction transaction = handing_over(leaving->path(), heirs);
  auto tried = [session, leaving = std::move(leaving), heirs = std::move(heirs), removed = std::move(removed)](
                   error_code error, const Results& results) {
    tell(*leaving, heirs, error, results);
    // Where this may have deleted the node, another try that finds none says nothing.
    const bool is_certain = error && outcome_of(error) == Outcome::not_applied;
    if (!is_certain) removed(error);
    if (error) remove_in_background(session, leaving->path(), is_certain ? removed : nullptr);
  };
  session.async_commit(std::move(transaction), asio::bind_executor(session.get_executor(), std::move(tried)));
}

Awaitable<error_code> hand_over_for_sure(Session session, std::shared_ptr<Sibling> leaving, Heirs heirs) {
  Transaction transaction = handing_over(leaving->path(), heirs);
  co_await wait_for_link(session);
  auto [error, results] = co_await session.async_commit(std::move(transaction), use_tuple);
  tell(*leaving, heirs, error, results);
  if (!error) co_return error_code{};
  const error_code removed = co_await remove_for_sure(session, leaving->path());
  const bool was_us = removed == Error::no_node && outcome_of(error) == Outcome::ambiguous;
  co_return was_us ? error_code{} : removed;
}

}  // namespace zklock
