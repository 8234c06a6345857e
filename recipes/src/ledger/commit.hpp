// A transaction that is carried out once, for the recipes.
#pragma once

#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipe_kit/use_tuple.hpp>
#include <zklock/recipes/ledger/commit_once.hpp>

namespace zklock::detail {

/// What has come of it, and the results that a failed transaction has, too.
struct Committed {
  error_code error{};
  TransactionResults results{};
  bool by_ledger = false;  ///< the reply was lost; there are no Stats
};

/// As async_commit_once, but a refused transaction is no failure of the call.
void start_once(OnceCore core, Transaction transaction, Handler<Committed> handler);

/// A container, and those above it.
[[nodiscard]] Awaitable<error_code> make_directory(OnceCore core, std::string directory);

/// Awaits it.
[[nodiscard]] inline auto commit(OnceCore core, Transaction transaction) {
  return initiate<void(error_code, Committed), &start_once>(use_tuple, std::move(core), std::move(transaction));
}

}  // namespace zklock::detail
