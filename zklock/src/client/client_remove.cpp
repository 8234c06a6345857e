// Client::async_remove: with descendants, and guaranteed.
#include "ambiguous_outcome.hpp"
#include "cleanup_trace.hpp"
#include "client_coroutines.hpp"

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

/// `refused`: whether the node was there, with children. If it is gone then, others have deleted it meanwhile.
Awaitable<error_code> remove_once(Session session, std::string path, RemoveOptions options, bool& refused) {
  for (int round = 0;; ++round) {
    const auto [error] = co_await session.async_remove(path, options.version, use_tuple);
    if (refused && error == Error::no_node) co_return error_code{};
    const bool clear = error == Error::not_empty && options.children == RemoveOptions::Children::remove;
    if (!clear || round >= max_rounds) co_return error;
    refused = true;
    const error_code below = co_await remove_below(session, path);
    if (below && below != Error::no_node) co_return below;
  }
}

Awaitable<Result<Outcomes<>>> remove(ClientRef client, std::string path, RemoveOptions options) {
  const ClientHandle handle{client};
  AmbiguousOutcome ambiguous;
  bool refused = false;
  for (Tries loop{handle, "remove", path};;) {
    const auto session = co_await loop.session();
    if (!session) co_return ambiguous.end(session.error());
    const error_code error = co_await remove_once(*session, path, options, refused);
    const bool gone_is_fine = options.missing == RemoveOptions::Missing::is_fine;
    if (!error || (error == Error::no_node && gone_is_fine)) co_return Outcomes<>{};
    if (!may_try_again(error)) co_return ambiguous.end(error);
    ambiguous.note(error);
    if (const error_code final_error = co_await loop.next(error)) co_return ambiguous.end(final_error);
  }
}

/// Tries until the server has answered, as long as the client exists.
Awaitable<void> remove_at_last(ClientRef client, std::string path, RemoveOptions options, CleanupTrace trace) {
  const ClientHandle handle{client};
  bool refused = false;
  for (int round = 0;; ++round) {
    const auto [no_session, session] = co_await handle.async_session(path, Deadline{}, use_tuple);
    if (no_session) co_return trace.end(no_session);
    const error_code error = co_await remove_once(session, path, options, refused);
    if (!may_try_again(error)) co_return trace.end(error == Error::no_node ? error_code{} : error);
    co_await pause_in_background(handle, round);
  }
}

/// Makes a guaranteed delete go on when the call that asked for it ends, in whatever way.
class Guarantee {
 public:
  Guarantee(ClientRef client, std::string path, RemoveOptions options)
      : client_{std::move(client)}, path_{std::move(path)}, options_{options} {}
  ~Guarantee() {
    if (options_.guarantee == RemoveOptions::Guarantee::none || answered_) return;
    CleanupTrace trace;
    if (const auto observers = client_->observers())
      trace.begin(observers, client_->config().client_id, server_path_of(client_, path_));
    spawn_detached(client_->runtime()->serial(), remove_at_last(client_, path_, options_, std::move(trace)));
  }
  Guarantee(const Guarantee&) = delete;
  Guarantee& operator=(const Guarantee&) = delete;

  /// Notes whether the server has answered. An error that says that the request was not sent, or not accepted, is no
  /// answer.
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
  run_at(ClientCore::Place{}, client, std::move(handler), std::move(body));  // no limit applies to it
}

}  // namespace zklock::detail
