// The blocking forms of operations.
#pragma once

#include "limits.hpp"

#include <zklock/client.hpp>
#include <zklock/recipe_kit/blocking.hpp>
#include <zklock/recipe_kit/recipe_core.hpp>

#include <boost/system/system_error.hpp>

#include <string>
#include <utility>

namespace zklock::detail {

/// Blocks until `operation`, which is called with a completion token, has given its result. Throws
/// boost::system::system_error about `what`: the operation's error, or one of block_until.
template <class Result, class Operation>
Result call_blocking(const ClientHandle& client, const std::string& what, Operation&& operation) {
  const auto fail = [&](error_code error) { throw boost::system::system_error{error, explain(what, error, client)}; };
  auto outcome = block_until<Result>({}, Error::timed_out, client, std::forward<Operation>(operation));
  if (outcome.error) fail(outcome.error);
  return std::move(*outcome.value);
}

/// The same of an operation of a recipe's object that gives no result, and that has the same wait. False: the time is
/// up.
template <class Operation>
bool call_blocking(const RecipeCore& recipe, const std::string& what, const WaitPolicy& wait, Operation&& operation) {
  refuse_after_fork(recipe);
  const ClientHandle& client = recipe.client();
  const auto fail = [&](error_code error) {
    throw boost::system::system_error{error, explain(what + " " + recipe.path(), error, client)};
  };
  const Limits limits = limits_of(wait, client);
  const auto outcome = block_until<>(limits.deadline, limits.at_deadline, client, std::forward<Operation>(operation));
  if (outcome.error == Error::timed_out && wait.kind != WaitPolicy::Kind::forever) return false;
  if (outcome.error) fail(outcome.error);
  return true;
}

}  // namespace zklock::detail
