// Client::async_create: with parents, with protection, and not twice.
#include "ambiguous_outcome.hpp"
#include "client_coroutines.hpp"
#include "request_checks.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/protected_path.hpp>
#include <zklock/recipe_kit/session_ops.hpp>

#include <optional>

namespace zklock::detail {

namespace {

/// A protected name, if the create is protected. Not for an invalid path: that is refused before it is sent.
std::optional<ProtectedPath> protection(const std::string& path, const CreateOptions& options) {
  const Request request{.operation = Operation::create, .path = path, .mode = options.node().mode};
  if (!options.is_protected() || has_path_flaw(request)) return std::nullopt;
  return ProtectedPath{path};
}

Awaitable<void> remove_protected(ClientHandle client, std::string path, ProtectedPath name) {
  for (int round = 0;; ++round) {
    const auto [no_session, session] = co_await client.async_session(path, Deadline{}, use_tuple);
    if (no_session || !may_try_again(co_await find_and_remove(session, name))) co_return;
    co_await pause_in_background(client, round);
  }
}

/// One create of a Client.
class Creation {
 public:
  Creation(ClientRef client, std::string path, std::string data, CreateOptions options)
      : client_{std::move(client)},
        asked_{std::move(path)},
        data_{std::move(data)},
        options_{std::move(options)},
        protected_{protection(asked_, options_)},
        path_{protected_ ? protected_->path() : asked_} {}
  /// Deletes a protected node that may have been created and whose path the caller will not learn.
  ~Creation() {
    if (protected_ && is_ambiguous_)
      spawn_detached(client_.get_executor(), remove_protected(client_, asked_, *protected_));
  }
  Creation(const Creation&) = delete;
  Creation& operator=(const Creation&) = delete;

  Awaitable<Result<CreateResult>> run() {
    for (Tries loop{client_, "create", asked_};;) {
      const auto session = co_await loop.session();
      if (!session) co_return ambiguous_.end(session.error());
      auto result = co_await attempt(*session);
      if (result) co_return std::move(result);
      const error_code error = result.error();
      ambiguous_.note(error);
      if (!may_try_again(error) || might_be_made_twice()) co_return ambiguous_.end(error);
      if (const error_code final_error = co_await loop.next(error)) co_return ambiguous_.end(final_error);
    }
  }

 private:
  /// A node that an earlier try has created may be gone again, deleted by the client that was to find it. Another node
  /// would then be one too many, unless the options say that it only matters that there is one.
  [[nodiscard]] bool might_be_made_twice() const noexcept {
    const bool as_good = options_.is_idempotent() || options_.set_version();
    return is_ambiguous_ && !protected_ && (is_sequential(options_.node().mode) || !as_good);
  }

  Awaitable<Result<CreateResult>> attempt(Session session) {
    if (is_ambiguous_ && protected_) {
      auto found = co_await take_own(session);
      if (!found) co_return found.error();
      is_ambiguous_ = false;
      ambiguous_ = {};
      if (!found->path.empty()) co_return std::move(*found);
    }
    for (int round = 0;; ++round) {
      is_ambiguous_ = true;  // until the server has answered
      auto [error, created] = co_await session.async_create(path_, data_, options_.node(), use_tuple);
      is_ambiguous_ = error && outcome_of(error) == Outcome::ambiguous;
      if (!error) co_return std::move(created);
      if (error == Error::no_node && round < max_rounds && wants_parents(round)) {
        error = co_await create_missing(session);
        if (error && error != Error::no_node) co_return error;
      } else if (error == Error::node_exists && (options_.is_idempotent() || options_.set_version())) {
        auto taken = co_await take_existing(session);
        if (taken || taken.error() != Error::no_node || round >= max_rounds) co_return std::move(taken);
      } else {
        co_return error;
      }
    }
  }

  /// Returns the node that an earlier try has created; an empty path if there is none. Deletes nodes that were created
  /// on a session that is over: the server is about to delete them, and they may be in the way.
  Awaitable<Result<CreateResult>> take_own(Session session) {
    auto found = co_await find_nodes(session, *protected_);
    if (!found) co_return found.error();
    for (CreateResult& node : *found)
      if (!is_ephemeral(options_.node().mode) || node.stat.ephemeral_owner == session.id()) co_return std::move(node);
    for (const CreateResult& node : *found) {
      const error_code error = co_await remove_guaranteed(session, node.path);
      if (error && error != Error::no_node) co_return error;
    }
    co_return CreateResult{};
  }

  /// The namespace's own node is created when something is first created in the namespace.
  [[nodiscard]] bool wants_parents(int round) const {
    return options_.parents() != CreateOptions::Parents::none || (round == 0 && !client_.ref().name_space().empty());
  }

  Awaitable<error_code> create_missing(Session session) {
    const bool whole_path = options_.parents() != CreateOptions::Parents::none;
    const bool persistent = options_.parents() == CreateOptions::Parents::persistent;
    NodeOptions parents{persistent ? CreateMode::persistent : CreateMode::container};
    parents.acl = options_.node().acl;
    std::string down_to = whole_path ? std::string{parent_path(path_)} : "/";
    co_return co_await create_path(session, std::move(down_to), std::move(parents));
  }

  /// The node exists: this call or another client has created it. Success if it is as this call would have made it and
  /// the options accept that.
  Awaitable<Result<CreateResult>> take_existing(Session session) {
    auto [error, node] = co_await session.async_get_data(path_, use_tuple);
    if (error) co_return error;
    const std::int64_t owner = is_ephemeral(options_.node().mode) ? session.id() : 0;
    if (options_.is_idempotent() && node.data == data_ && node.stat.ephemeral_owner == owner) {
      CreateResult existing{path_, node.stat};
      co_return existing;
    }
    if (!options_.set_version()) co_return make_error_code(Error::node_exists);
    auto [not_set, stat] = co_await session.async_set_data(path_, data_, *options_.set_version(), use_tuple);
    if (not_set) co_return not_set;
    CreateResult replaced{path_, stat};
    co_return replaced;
  }

  ClientHandle client_;
  std::string asked_;
  std::string data_;
  CreateOptions options_;
  std::optional<ProtectedPath> protected_;
  std::string path_;            // the path of the create request
  bool is_ambiguous_ = false;   // whether the last try may have created a node
  AmbiguousOutcome ambiguous_;  // whether any try may have, of those that protection does not find
};

Awaitable<Result<Outcomes<CreateResult>>> create(ClientRef client, std::string path, std::string data,
                                                 CreateOptions options) {
  auto packed = encoded(client, options.is_compressed() ? Compression::on : Compression::off, std::move(data));
  if (!packed) co_return packed.error();
  Creation creation{std::move(client), std::move(path), std::move(*packed), std::move(options)};
  auto created = co_await creation.run();
  if (!created) co_return created.error();
  co_return Outcomes<CreateResult>{std::move(*created)};
}

}  // namespace

void start_client_create(ClientRef client, std::string path, std::string data, CreateOptions options,
                         Handler<CreateResult> handler) {
  run(client, std::move(handler), create(client, std::move(path), std::move(data), std::move(options)));
}

}  // namespace zklock::detail
