#include "blocking_call.hpp"
#include "keeper.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/nodes/persistent_node.hpp>
#include <zklock/recipes/nodes/persistent_ttl_node.hpp>

#include <utility>

namespace zklock {

namespace detail {

namespace {

void spawn(const std::shared_ptr<Keeper>& keeper, const Limits& limits, Handler<> handler, Awaitable<error_code> body) {
  spawn_operation(keeper->client().get_executor(), limits.deadline, std::move(handler), std::move(body), keeper);
}

/// A wait of nothing looks once.
Limits wait_limits(const WaitPolicy& wait) {
  Limits limits;
  if (wait.kind == WaitPolicy::Kind::until) limits.deadline = wait.deadline;
  if (wait.kind == WaitPolicy::Kind::try_once) limits.deadline = Clock::now();
  return limits;
}

void close_in_background(const std::shared_ptr<Keeper>& keeper) {
  if (keeper && !keeper->client().in_forked_child()) keeper->close();
}

}  // namespace

const ClientHandle& home_of(const Keeper& keeper) { return keeper.client(); }

void start_wait_present(std::shared_ptr<Keeper> keeper, WaitPolicy wait, Handler<> handler) {
  spawn(keeper, wait_limits(wait), std::move(handler), Keeper::wait_present(keeper));
}

void start_set_kept_data(std::shared_ptr<Keeper> keeper, std::string data, WaitPolicy wait, Handler<> handler) {
  const std::uint64_t number = keeper->set_data(std::move(data));
  spawn(keeper, wait_limits(wait), std::move(handler), Keeper::wait_written(keeper, number));
}

void start_close_keeper(std::shared_ptr<Keeper> keeper, Handler<> handler) {
  keeper->close();
  spawn(keeper, {}, std::move(handler), Keeper::wait_closed(keeper));
}

KeptNode& KeptNode::operator=(KeptNode&& other) noexcept {
  if (this == &other) return *this;
  close_in_background(keeper_);
  keeper_ = std::move(other.keeper_);
  return *this;
}

KeptNode::~KeptNode() { close_in_background(keeper_); }

const std::string& KeptNode::path() const { return existing(keeper_).path(); }
std::string KeptNode::node_path() const { return existing(keeper_).node_path(); }
std::string KeptNode::data() const { return existing(keeper_).data(); }
NodeState KeptNode::state() const { return existing(keeper_).state(); }
NodeStateStream KeptNode::states() const { return existing(keeper_).subscribe(); }

bool KeptNode::wait_present(WaitPolicy wait) const {
  return call_blocking(existing(keeper_), "persistent node", wait,
                       [&](auto token) { initiate_wait(wait, std::move(token)); });
}

bool KeptNode::set_data(std::string data, WaitPolicy wait) const {
  return call_blocking(existing(keeper_), "persistent node", wait,
                       [&](auto token) { initiate_set(std::move(data), wait, std::move(token)); });
}

void KeptNode::close() const {
  call_blocking(existing(keeper_), "persistent node", {}, [&](auto token) { async_close(std::move(token)); });
}

}  // namespace detail

namespace {

detail::KeepOptions keep_options(PersistentNodeOptions options) {
  const bool numbered = options.mode == CreateMode::persistent_sequential;
  const bool is_protected = options.protection == NodeProtection::on;
  if (has_ttl(options.mode) || options.mode == CreateMode::container || (numbered && !is_protected))
    throw boost::system::system_error{Error::invalid_create_mode, "a persistent node"};
  detail::KeepOptions keep;
  keep.node = NodeOptions{options.mode};
  keep.node.acl = std::move(options.acl);
  keep.is_protected = is_protected;
  keep.conflict = options.conflict;
  keep.parents = options.parents;
  return keep;
}

detail::KeepOptions keep_options(std::chrono::milliseconds ttl, PersistentTtlNodeOptions options) {
  constexpr std::chrono::milliseconds longest{std::int64_t{1} << 40};
  if (ttl < std::chrono::milliseconds{2} || ttl > longest)
    throw boost::system::system_error{Error::invalid_timeout, "a time to live from 2 ms to 2^40 ms"};
  validate_path("/" + options.touch);
  if (options.touch.empty() || options.touch.find('/') != std::string::npos)
    throw boost::system::system_error{Error::invalid_path, zklock::quoted(options.touch) + " as the name of a child"};
  detail::KeepOptions keep;
  keep.node = NodeOptions{CreateMode::persistent_ttl, ttl};
  keep.node.acl = std::move(options.acl);
  keep.conflict = options.conflict;
  keep.parents = options.parents;
  keep.at_close = detail::AtClose::leave;
  keep.touch = std::move(options.touch);
  return keep;
}

const std::string& validated(const std::string& path) {
  validate_path(path);
  if (path == "/") throw boost::system::system_error{Error::invalid_path, "the root, which always is there"};
  return path;
}

}  // namespace

namespace detail {

std::shared_ptr<Keeper> start_keeper(const ClientHandle& client, std::string path, std::string data,
                                     PersistentNodeOptions options) {
  return Keeper::start(client, validated(path), std::move(data), keep_options(std::move(options)));
}

}  // namespace detail

PersistentNode::PersistentNode(const ClientHandle& client, std::string path, std::string data,
                               PersistentNodeOptions options)
    : KeptNode{detail::start_keeper(client, std::move(path), std::move(data), std::move(options))} {}

PersistentTtlNode::PersistentTtlNode(const ClientHandle& client, std::string path, std::chrono::milliseconds ttl,
                                     std::string data, PersistentTtlNodeOptions options)
    : KeptNode{detail::Keeper::start(client, validated(path), std::move(data), keep_options(ttl, std::move(options)))} {
}

}  // namespace zklock
