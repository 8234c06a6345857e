// A node that is there as long as the object is, over lost links and sessions.
#pragma once

#include <zklock/client.hpp>
#include <zklock/recipe_kit/recipe_core.hpp>
#include <zklock/recipe_kit/wait_policy.hpp>
#include <zklock/recipes/nodes/node_conflict.hpp>
#include <zklock/recipes/nodes/node_state.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace zklock {

namespace detail {
class Keeper;
const ClientHandle& home_of(const Keeper& keeper);
void start_wait_present(std::shared_ptr<Keeper> keeper, WaitPolicy wait, Handler<> handler);
void start_set_kept_data(std::shared_ptr<Keeper> keeper, std::string data, WaitPolicy wait, Handler<> handler);
void start_close_keeper(std::shared_ptr<Keeper> keeper, Handler<> handler);

/// What PersistentNode, PersistentTtlNode and GroupMember have in common.
class KeptNode {
 public:
  KeptNode(const KeptNode&) = delete;
  KeptNode& operator=(const KeptNode&) = delete;

  /// The path as it was given.
  [[nodiscard]] const std::string& path() const;
  /// The path of the node itself: with the tag of a protected and the digits of a sequential node. Empty until the
  /// server has named it. Curator's getActualPath.
  [[nodiscard]] std::string node_path() const;
  /// The data that the node has or is to get.
  [[nodiscard]] std::string data() const;
  /// What is known now. Not a proof: a process that was paused for longer than the session timeout may still read
  /// `present` for a moment. Where that would do harm, use a lock.
  [[nodiscard]] NodeState state() const;
  [[nodiscard]] bool is_present() const { return state().phase == NodePhase::present; }
  /// A stream of the states from now on.
  [[nodiscard]] NodeStateStream states() const;

  /// Waits until the node is there.
  ///
  /// Signature     void(error_code)
  /// Completes     when state() is NodePhase::present; at once if it is so already.
  /// Errors        Error::timed_out (state() says why); Error::name_taken, Error::unimplemented and Error::auth_failed
  ///               if the object has given up, Error::closed if it or its client is closed; operation_aborted
  /// Cancellation  terminal, partial, total: they end the wait alone.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <class Rep, class Period, asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_present(std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_wait(WaitPolicy::of(wait), std::forward<Token>(token));
  }
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_present(Token&& token = {}) const {
    return initiate_wait(WaitPolicy{}, std::forward<Token>(token));
  }

  /// Changes the node's data, now or when the node can be reached: the data are what the node gets whenever it is
  /// created. Of several changes the last one wins, and the others may never be written.
  ///
  /// Signature     void(error_code)
  /// Completes     when the node is there, with these data or later ones.
  /// Errors        as async_wait_present, and the server's refusal of the data or of the node (Error::no_auth,
  ///               Error::payload_too_large, Error::quota_exceeded, Error::not_empty, ...); the data are tried again all
  ///               the same, more and more slowly
  /// Cancellation  terminal, partial, total: they end the wait. The data are written all the same.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_set_data(std::string data, Token&& token = {}) const {
    return initiate_set(std::move(data), WaitPolicy{}, std::forward<Token>(token));
  }

  /// Stops, and deletes the node if it is the client's own. Idempotent.
  ///
  /// Signature     void(error_code)
  /// Completes     when the node is gone, or, if it is ephemeral, its session is over. A PersistentTtlNode's node stays
  ///               for its time to live.
  /// Errors        the server's refusal to delete (Error::no_auth, Error::not_empty), Error::closed,
  ///               operation_aborted
  /// Cancellation  terminal, partial, total: they end the wait. The node is deleted all the same.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_close(Token&& token = {}) const {
    return initiate<void(error_code), &start_close_keeper>(std::forward<Token>(token), keeper_);
  }

  // The same, blocking: they throw boost::system::system_error with the errors above, and Error::blocking_in_handler on
  // a thread that the client's work needs. False: the time is up.

  void wait_present() const { static_cast<void>(wait_present(WaitPolicy{})); }
  template <class Rep, class Period>
  [[nodiscard]] bool wait_present(std::chrono::duration<Rep, Period> wait_for) const {
    return wait_present(WaitPolicy::of(wait_for));
  }
  void set_data(std::string data) const { static_cast<void>(set_data(std::move(data), WaitPolicy{})); }
  template <class Rep, class Period>
  [[nodiscard]] bool set_data(std::string data, std::chrono::duration<Rep, Period> wait_for) const {
    return set_data(std::move(data), WaitPolicy::of(wait_for));
  }
  void close() const;

 protected:
  explicit KeptNode(std::shared_ptr<Keeper> keeper) noexcept : keeper_{std::move(keeper)} {}
  KeptNode(KeptNode&&) noexcept = default;
  KeptNode& operator=(KeptNode&& other) noexcept;
  ~KeptNode();

 private:
  template <class Token>
  auto initiate_wait(WaitPolicy wait, Token&& token) const {
    return initiate<void(error_code), &start_wait_present>(std::forward<Token>(token), keeper_, wait);
  }
  template <class Token>
  auto initiate_set(std::string data, WaitPolicy wait, Token&& token) const {
    return initiate<void(error_code), &start_set_kept_data>(std::forward<Token>(token), keeper_, std::move(data), wait);
  }
  bool wait_present(WaitPolicy wait) const;
  bool set_data(std::string data, WaitPolicy wait) const;

  std::shared_ptr<Keeper> keeper_;
};
}  // namespace detail

/// Whether the node's name gets a tag, "_c_<uuid>-", by which no other client has the path, and by which the node is
/// found after a lost reply.
enum class NodeProtection { off, on };

struct PersistentNodeOptions {
  /// ephemeral, ephemeral_sequential, persistent or persistent_sequential; the last one requires protection, since
  /// nothing else would tell whose node it is after a lost reply. A sequential node is created again under the name
  /// that it got first.
  CreateMode mode = CreateMode::ephemeral;
  NodeProtection protection = NodeProtection::off;
  NodeConflict conflict = NodeConflict::wait;
  /// How missing parents are created; `none`: the node fails with Error::no_node until they are there.
  CreateOptions::Parents parents = CreateOptions::Parents::containers;
  /// Empty: the ACL of ClientConfig::acl_provider, or else one that is open to everybody. The client itself must be
  /// allowed to read the node, or it could not watch it.
  std::optional<Acl> acl{};
};

namespace detail {
std::shared_ptr<Keeper> start_keeper(const ClientHandle& client, std::string path, std::string data,
                                     PersistentNodeOptions options);
}

/// Keeps a node. It is created when the object is constructed, created again when another client deletes it, and
/// created again on each new session; when the object is closed or destroyed, it is deleted, in the background if need be.
/// Curator's PersistentNode and PersistentEphemeralNode.
///
/// Of an ephemeral node there is at no time more than one, and the session that owns it is the client's own. If the
/// client has lost its session and the servers have not yet, the node of the old session is replaced in one
/// transaction, so that other clients see no gap.
///
/// A persistent node tells nobody whose it is. One that is at the path at the start is kept, and gets the data; of one
/// that another client creates there later the data stay until the next set_data.
///
/// Threads: any thread may call anything but the destructor and the assignment.
class PersistentNode : public detail::KeptNode {
 public:
  /// Begins to create the node. Throws boost::system::system_error: Error::invalid_path, Error::invalid_create_mode.
  PersistentNode(const ClientHandle& client, std::string path, std::string data, PersistentNodeOptions options = {});
  /// A temporary Client would be closed at once.
  template <class... Rest>
  PersistentNode(Client&&, Rest&&...) = delete;
};

}  // namespace zklock
