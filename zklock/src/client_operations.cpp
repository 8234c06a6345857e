// The operations of a Client that change something, and so must not be done twice.
#include "client_coroutines.hpp"

#include <zklock/detail/steps.hpp>
#include <zklock/path.hpp>

#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

namespace zklock::detail {

namespace {

constexpr int most_rounds = 16;  // of what others undo again at once (docs/faults.md 9, 79)

/// What the tries before have left unknown: one of them may have done it.
class Doubt {
 public:
  void note(error_code error) {
    if (outcome_of(error) == Outcome::ambiguous) error_ = error;
  }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(error_); }
  /// What to end with. A later refusal does not prove that nothing was done before: others may have changed the node
  /// since.
  [[nodiscard]] error_code end(error_code error) const noexcept {
    return error_ && outcome_of(error) == Outcome::not_applied ? error_ : error;
  }

 private:
  error_code error_{};
};

// ---- create
// --------------------------------------------------------------------------------------------------------------

/// "/jobs/n-" as "/jobs/_c_<uuid>-n-": Curator's form, so that its clients find their way.
std::string protected_path(const std::string& path) {
  std::string name = "_c_" + boost::uuids::to_string(boost::uuids::random_generator{}()) + "-";
  name += node_name(path);
  return join_path(parent_path(path), name);
}

/// Between tries of what goes on in the background.
Awaitable<void> pause_in_background(ClientHandle client, int round) {
  const Clock::duration wait =
      std::min<Clock::duration>(std::chrono::milliseconds{100 << std::min(round, 10)}, std::chrono::seconds{10});
  Timer timer{client.get_executor(), std::max(Clock::now() + wait, client.ref()->take_retry_turn())};
  co_await timer.async_wait(use_tuple);
}

Awaitable<void> find_and_remove(ClientHandle client, std::string path, CreateMode mode) {
  for (int round = 0;; ++round) {
    const auto [no_session, session] = co_await client.async_session(path, Deadline{}, use_tuple);
    if (no_session) co_return;
    auto found = co_await find_node(session, std::string{parent_path(path)}, std::string{node_name(path)}, mode);
    error_code error = found ? error_code{} : found.error();
    if (found && found->path.empty()) co_return;
    if (found) error = co_await remove_for_sure(session, found->path);
    if (!may_try_again(error)) co_return;
    co_await pause_in_background(client, round);
  }
}

/// One create of a Client.
class Creation {
 public:
  Creation(ClientRef client, std::string path, std::string data, CreateOptions options)
      : client_{std::move(client)}, path_{std::move(path)}, data_{std::move(data)}, options_{std::move(options)} {
    if (options_.is_protected() && !find_path_flaw(path_)) path_ = protected_path(path_);
  }
  /// A protected node that may have been made, and that nobody will hear of, is deleted.
  ~Creation() {
    if (options_.is_protected() && in_doubt_)
      spawn_detached(client_.get_executor(), find_and_remove(client_, path_, options_.node().mode));
  }
  Creation(const Creation&) = delete;
  Creation& operator=(const Creation&) = delete;

  Awaitable<Result<CreateResult>> run() {
    for (RetryLoop loop{client_, "create", path_};;) {
      const auto session = co_await loop.session();
      if (!session) co_return doubt_.end(session.error());
      auto result = co_await attempt(*session);
      if (result) co_return std::move(result);
      const error_code error = result.error();
      doubt_.note(error);
      if (judged_ || !may_try_again(error) || cannot_tell()) co_return doubt_.end(error);
      if (const error_code final_error = co_await loop.next(error)) co_return doubt_.end(final_error);
    }
  }

 private:
  /// Without protection nobody can tell which sequential node is ours.
  [[nodiscard]] bool cannot_tell() const noexcept {
    return in_doubt_ && is_sequential(options_.node().mode) && !options_.is_protected();
  }

  Awaitable<Result<CreateResult>> attempt(Session session) {
    if (in_doubt_ && options_.is_protected()) {
      auto found = co_await find_node(session, std::string{parent_path(path_)}, std::string{node_name(path_)},
                                      options_.node().mode);
      if (!found) co_return found.error();
      in_doubt_ = false;
      doubt_ = {};
      if (!found->path.empty()) co_return std::move(*found);
    }
    for (int round = 0;; ++round) {
      in_doubt_ = true;  // until the server has answered
      auto [error, created] = co_await session.async_create(path_, data_, options_.node(), use_tuple);
      in_doubt_ = error && outcome_of(error) == Outcome::ambiguous;
      if (!error) co_return std::move(created);
      if (error == Error::no_node && round < most_rounds && wants_parents(round)) {
        error = co_await create_missing(session);
        if (error && error != Error::no_node) co_return error;
      } else if (error == Error::node_exists && (doubt_ || options_.is_idempotent() || options_.set_version())) {
        auto taken = co_await take_existing(session);
        if (taken || taken.error() != Error::no_node || round >= most_rounds) co_return std::move(taken);
      } else {
        co_return error;
      }
    }
  }

  /// The namespace's own node is made when something is first created in it.
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

  /// The node exists: made by us, or by somebody else, who may have made the same. Success if it is as ours would be and
  /// that is good enough.
  Awaitable<Result<CreateResult>> take_existing(Session session) {
    auto [error, node] = co_await session.async_get_data(path_, use_tuple);
    if (error) co_return error;
    const std::int64_t owner = is_ephemeral(options_.node().mode) ? session.id() : 0;
    if (options_.is_idempotent() && node.data == data_ && node.stat.ephemeral_owner == owner) {
      CreateResult existing{path_, node.stat};
      co_return existing;
    }
    if (!options_.set_version()) {
      judged_ = true;
      co_return make_error_code(Error::node_exists);
    }
    auto [not_set, stat] = co_await session.async_set_data(path_, data_, *options_.set_version(), use_tuple);
    if (not_set) co_return not_set;
    CreateResult replaced{path_, stat};
    co_return replaced;
  }

  ClientHandle client_{ClientRef{}};
  std::string path_;
  std::string data_;
  CreateOptions options_;
  bool in_doubt_ = false;  // whether the last try has made a node
  Doubt doubt_;            // whether any has, of those that protection does not find again
  bool judged_ = false;    // another try would learn no more
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

// ---- remove
// --------------------------------------------------------------------------------------------------------------

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
  for (RetryLoop loop{handle, "remove", path};;) {
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

  void note(error_code error) { answered_ = !error || outcome_of(error) == Outcome::not_applied; }

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

// ---- set_data
// ------------------------------------------------------------------------------------------------------------

/// The version is used up, by us or by somebody else, who may have written the same: whether the node is as our write
/// would have left it.
bool is_as_written(const DataResult& node, const std::string& data, std::int32_t version) {
  return node.data == data && node.stat.version == std::int64_t{version} + 1;
}

Awaitable<Result<Outcomes<Stat>>> set_data(ClientRef client, std::string path, std::string data,
                                           SetDataOptions options) {
  auto packed = encoded(client, options.compression, std::move(data));
  if (!packed) co_return packed.error();
  data = std::move(*packed);
  const ClientHandle handle{client};
  Doubt doubt;
  for (RetryLoop loop{handle, "set_data", path};;) {
    const auto session = co_await loop.session();
    if (!session) co_return doubt.end(session.error());
    auto [error, stat] = co_await session->async_set_data(path, data, options.version, use_tuple);
    if (!error) co_return Outcomes<Stat>{stat};
    if (error == Error::bad_version && options.idempotence == SetDataOptions::Idempotence::on) {
      auto [unread, node] = co_await session->async_get_data(path, use_tuple);
      if (!unread && is_as_written(node, data, options.version)) co_return Outcomes<Stat>{node.stat};
      if (may_try_again(unread)) error = unread;
    }
    if (!may_try_again(error)) co_return doubt.end(error);
    doubt.note(error);
    if (const error_code final_error = co_await loop.next(error)) co_return doubt.end(final_error);
  }
}

// ---- the rest
// ------------------------------------------------------------------------------------------------------------

Awaitable<Result<Outcomes<>>> set_acl(ClientRef client, std::string path, Acl acl, std::int32_t acl_version) {
  const ClientHandle handle{client};
  Doubt doubt;
  for (RetryLoop loop{handle, "set_acl", path};;) {
    const auto session = co_await loop.session();
    if (!session) co_return doubt.end(session.error());
    const auto [error] = co_await session->async_set_acl(path, acl, acl_version, use_tuple);
    if (!error) co_return Outcomes<>{};
    if (!may_try_again(error)) co_return doubt.end(error);
    doubt.note(error);
    if (const error_code final_error = co_await loop.next(error)) co_return doubt.end(final_error);
  }
}

/// Whether a transaction was done cannot be looked up, so it is tried again only if it certainly was not.
Awaitable<Result<Outcomes<TransactionResults>>> commit(ClientRef client, Transaction transaction,
                                                       std::shared_ptr<TransactionResults> results) {
  const ClientHandle handle{client};
  const std::string path = transaction.operations().empty() ? "/" : transaction.operations().front().path;
  for (RetryLoop loop{handle, "commit", path};;) {
    const auto session = co_await loop.session();
    if (!session) co_return session.error();
    auto [error, done] = co_await session->async_commit(transaction, use_tuple);
    *results = std::move(done);
    if (!error) co_return Outcomes<TransactionResults>{*results};
    if (!may_try_again(error) || outcome_of(error) == Outcome::ambiguous) co_return error;
    if (const error_code final_error = co_await loop.next(error)) co_return final_error;
  }
}

/// A failed transaction has results, too.
Handler<TransactionResults> with_results(Handler<TransactionResults> handler,
                                         std::shared_ptr<TransactionResults> results) {
  auto slot = asio::get_associated_cancellation_slot(handler);
  auto executor = asio::get_associated_executor(handler);
  return asio::bind_cancellation_slot(
      slot, asio::bind_executor(executor, [handler = std::move(handler), results = std::move(results)](
                                              error_code error, TransactionResults) mutable {
        for (TransactionResult& each : *results)
          if (error && !each.error) each.error = error;  // no server has said anything about it
        std::move(handler)(error, std::move(*results));
      }));
}

}  // namespace

void start_client_create(ClientRef client, std::string path, std::string data, CreateOptions options,
                         Handler<CreateResult> handler) {
  run(client, std::move(handler), create(client, std::move(path), std::move(data), std::move(options)));
}

void start_client_remove(ClientRef client, std::string path, RemoveOptions options, Handler<> handler) {
  run(client, std::move(handler), remove_with_guarantee(client, std::move(path), options));
}

void start_client_set_data(ClientRef client, std::string path, std::string data, SetDataOptions options,
                           Handler<Stat> handler) {
  run(client, std::move(handler), set_data(client, std::move(path), std::move(data), options));
}

void start_client_set_acl(ClientRef client, std::string path, Acl acl, std::int32_t acl_version, Handler<> handler) {
  run(client, std::move(handler), set_acl(client, std::move(path), std::move(acl), acl_version));
}

void start_client_commit(ClientRef client, Transaction transaction, Handler<TransactionResults> handler) {
  auto results = std::make_shared<TransactionResults>(transaction.operations().size());
  run(client, with_results(std::move(handler), results), commit(client, std::move(transaction), results));
}

}  // namespace zklock::detail
