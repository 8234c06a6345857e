// Client::async_remove: with what is below, and for sure.
#include "client_coroutines.hpp"
#include "doubt.hpp"

#include <zklock/path.hpp>

namespace zklock::detail {

namespace {

Awaitable<error_code> remove_below(Session session, std::string path) {
  auto [error, listed] = co_await session.async_get_children(path, use_tuple);
  if (error) co_return error;
  for (const std::string& name : listed.names) {
    std::string child = join_path(path, name);
    const error_code below = co_await remove_below(session, child);
    if (below && below != Error::no_node) co_return below;
    const auto [failed] = co_await session.async_remove(child, use_tuple);
    if (failed && failed != Error::no_node && failed != Error::not_empty) co_return failed;
  }
  co_return error_code{};
}

Awaitable<error_code> remove_once(Session session, std::string path, RemoveOptions options) {
  for (int round = 0;; ++round) {
    const auto [error] = co_await session.async_remove(path, options.version, use_tuple);
    const bool clear = error == Error::not_empty && options.children == RemoveOptions::Children::remove;
    if (!clear || round >= most_rounds) co_return error;
    const error_code below = co_await remove_below(session, path);
    if (below && below != Error::no_node) co_return below;
  }
}

Awaitable<Result<Outcomes<>>> remove(ClientRef client, std::string path, RemoveOptions options) {
  const ClientHandle handle{client};
  Doubt doubt;
  for (Tries loop{handle, "remove", path};;) {
    const auto session = co_await loop.session();
    if (!session) co_return doubt.end(session.error());
    const error_code error = co_await remove_once(*session, path, options);
    const bool gone_is_fine = options.missing == RemoveOptions::Missing::is_fine;
    if (!error || (error == Error::no_node && gone_is_fine)) co_return Outcomes<>{};
    if (!may_try_again(error)) co_return doubt.end(error);
    doubt.note(error);
    if (const error_code final_error = co_await loop.next(error)) co_return doubt.end(final_error);
  }
}

/// For as long as the client lives, until the server has answered.
Awaitable<void> remove_at_last(ClientRef client, std::string path, RemoveOptions options) {
  const ClientHandle handle{client};
  for (int round = 0;; ++round) {
    const auto [no_session, session] = co_await handle.async_session(path, Deadline{}, use_tuple);
    if (no_session) co_return;
    const error_code error = co_await remove_once(session, path, options);
    if (!may_try_again(error)) co_return;
    co_await pause_in_background(handle, round);
  }
}

/// Sees to it that a guaranteed delete goes on when the call that wanted it ends, in whatever way.
class Guarantee {
 public:
  Guarantee(ClientRef client, std::string path, RemoveOptions options)
      : client_{std::move(client)}, path_{std::move(path)}, options_{options} {}
  ~Guarantee() {
    if (options_.guarantee == RemoveOptions::Guarantee::background && !answered_)
      spawn_detached(client_->runtime()->serial(), remove_at_last(client_, path_, options_));
  }
  Guarantee(const Guarantee&) = delete;
  Guarantee& operator=(const Guarantee&) = delete;

  /// By the server: that it was not sent, or not taken, is no answer.
  void note(error_code error) {
    answered_ = !error || (outcome_of(error) == Outcome::not_applied && !is_retryable(error));
  }

 private:
  ClientRef client_;
  std::string path_;
  RemoveOptions options_;
  bool answered_ = false;
};

Awaitable<Result<Outcomes<>>> remove_with_guarantee(ClientRef client, std::string path, RemoveOptions options) {
  Guarantee guarantee{client, path, options};
  auto removed = co_await remove(client, path, options);
  guarantee.note(removed ? error_code{} : removed.error());
  co_return std::move(removed);
}

}  // namespace

void start_client_remove(ClientRef client, std::string path, RemoveOptions options, Handler<> handler) {
  auto body = remove_with_guarantee(client, std::move(path), options);
  if (options.guarantee == RemoveOptions::Guarantee::none) return run(client, std::move(handler), std::move(body));
  run_at(ClientCore::Place{}, client, std::move(handler), std::move(body));  // whatever else there is to do
}

}  // namespace zklock::detail
