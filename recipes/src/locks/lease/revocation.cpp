
#include <zklock/recipe_kit/blocking.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/locks/revocation.hpp>

namespace zklock {

namespace detail {

namespace {

Awaitable<error_code> attempt(ClientHandle client, std::string node_path) {
  const auto [error, stat] = co_await client.async_set_data(node_path, std::string{revocation_request}, use_tuple);
  if (error && error != Error::no_node) co_return error;
  co_return error_code{};
}

}  // namespace

void start_attempt_revoke(std::shared_ptr<RevocationTarget> target, std::string node_path, Handler<> handler) {
  const auto serial = target->client().get_executor();
  auto body = attempt(target->client(), std::move(node_path));
  spawn_operation(serial, {}, std::move(handler), std::move(body), std::move(target));
}

}  // namespace detail

void attempt_revoke(const ClientHandle& client, const std::string& node_path) {
  const auto outcome = detail::block_until<>(
      {}, Error::timed_out, client, [&](auto token) { async_attempt_revoke(client, node_path, std::move(token)); });
  if (outcome.error) throw boost::system::system_error{outcome.error, "revoke " + node_path};
}

}  // namespace zklock
