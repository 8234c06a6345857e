#include "node_name.hpp"

#include "path_claim.hpp"
#include "sequence_number.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/session_ops.hpp>

#include <utility>

namespace zklock::detail {

namespace {

/// Whether the server may have made the name by adding a number to `start`. "a-1234567890" may be of "a" and of "a-".
bool is_numbered(std::string_view name, std::string_view start) {
  return name.starts_with(start) && parse_sequence(name.substr(start.size())).has_value();
}

}  // namespace

NodeName::NodeName(ClientHandle client, std::string path, KeepOptions options)
    : client_{std::move(client)}, path_{std::move(path)}, options_{std::move(options)} {
  if (options_.is_protected) protected_.emplace(path_);
  if (!is_sequential(options_.node.mode)) node_path_ = protected_ ? protected_->path() : path_;
}

Awaitable<error_code> NodeName::create(Session session, std::string data, const OwnSessions& sessions) {
  if (may_exist_) {
    const error_code error = co_await find(session, sessions);
    if (error || is_known()) co_return error;
  }
  sent_ = data;
  may_exist_ = true;  // until the server has answered
  ++creates_;
  const std::string& path = protected_ ? protected_->path() : path_;
  auto [error, created] = co_await session.async_create(path, std::move(data), options_.node, use_tuple);
  may_exist_ = error && outcome_of(error) == Outcome::ambiguous;
  if (!error) {
    node_path_ = created.path;
    created_ = created.stat.czxid;
  }
  co_return error;
}

/// The current session's node comes before one of an earlier session, which goes with that session.
Awaitable<error_code> NodeName::find(Session session, const OwnSessions& sessions) {
  if (protected_) {
    const auto found = co_await find_nodes(session, *protected_);
    if (!found) co_return found.error();
    for (const CreateResult& node : *found)
      if (!is_known() || node.stat.ephemeral_owner == session.id()) node_path_ = node.path;
  } else {
    auto found = co_await find_unprotected(session, sessions, sent_);
    if (!found) co_return found.error();
    node_path_ = std::move(*found);
  }
  may_exist_ = false;
  co_return error_code{};
}

Awaitable<Result<std::string>> NodeName::find_unprotected(Session session, const OwnSessions& sessions,
                                                          std::string data) const {
  const std::string directory{parent_path(path_)};
  const auto names = co_await list_children_fresh(session, directory);
  if (!names && names.error() == Error::no_node) co_return std::string{};
  if (!names) co_return names.error();
  std::string best;
  for (const std::string& name : *names) {
    if (!is_numbered(name, node_name(path_))) continue;
    std::string node = join_path(directory, name);
    if (PathClaim::of(client_, node)->is_taken()) continue;
    const auto [error, read] = co_await session.async_get_data(node, use_tuple);
    if (error && error != Error::no_node) co_return error;
    const std::int64_t owner = read.stat.ephemeral_owner;
    if (error || read.data != data || (owner != session.id() && !sessions.contain(owner))) continue;
    if (best.empty() || owner == session.id()) best = std::move(node);
  }
  co_return best;
}

Awaitable<void> NodeName::remove_late(Session session, std::string data) {
  if (protected_) {
    static_cast<void>(co_await find_and_remove(session, *protected_));
    co_return;
  }
  std::string path = path_;
  if (is_sequential(options_.node.mode)) {
    const auto found = co_await find_unprotected(session, {}, data);
    path = found ? *found : std::string{};
  }
  if (path.empty()) co_return;
  session.async_sync(path, asio::bind_executor(session.get_executor(), [](error_code) {}));
  const auto [error, read] = co_await session.async_get_data(path, use_tuple);
  const bool is_late = !error && read.stat.ephemeral_owner == session.id() && read.data == data;
  if (is_late && !PathClaim::of(client_, path)->is_taken())
    co_await session.async_remove(path, read.stat.version, use_tuple);
}

}  // namespace zklock::detail
