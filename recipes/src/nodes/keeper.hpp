// Keeps a node at a path, over links and sessions.
#pragma once

#include "create_doubt.hpp"
#include "keep_options.hpp"
#include "keep_step.hpp"
#include "node_look.hpp"
#include "node_name.hpp"
#include "node_states.hpp"
#include "path_claim.hpp"

#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipe_kit/observers.hpp>
#include <zklock/recipe_kit/recipe_core.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/nodes/node_observer.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace zklock::detail {

/// One loop does all: it takes a session, creates the node or finds it there, and waits, until that session is over,
/// for what makes another step necessary. Only that loop sends anything.
///
/// Threads: the functions marked so, any; the others on the client's serial executor.
class Keeper : public RecipeCore, public std::enable_shared_from_this<Keeper> {
 public:
  /// Begins in the background, and goes on until close() or the end of the client.
  [[nodiscard]] static std::shared_ptr<Keeper> start(const ClientHandle& client, std::string path, std::string data,
                                                     KeepOptions options);
  /// For start() alone.
  Keeper(const ClientHandle& client, std::string path, std::string data, KeepOptions options);

  // any thread
  [[nodiscard]] NodeState state() const { return states_.get(); }
  [[nodiscard]] NodeStateStream subscribe() { return states_.subscribe(client()); }
  /// Empty until the server has named the node.
  [[nodiscard]] std::string node_path() const;
  [[nodiscard]] std::string data() const;
  /// Returns the number of these data.
  std::uint64_t set_data(std::string data);
  /// Ends the loop, and deletes the node unless it is to stay.
  void close();

  [[nodiscard]] static Awaitable<error_code> wait_present(std::shared_ptr<Keeper> self);
  /// Waits until the node has these data or later ones.
  [[nodiscard]] static Awaitable<error_code> wait_written(std::shared_ptr<Keeper> self, std::uint64_t number);
  [[nodiscard]] static Awaitable<error_code> wait_closed(std::shared_ptr<Keeper> self);

 private:
  struct Alarm;  // what a watch has reported
  struct Wish {
    std::string data;
    std::uint64_t number = 0;  // grows with each change of the data
  };

  static Awaitable<void> run(std::shared_ptr<Keeper> self);
  [[nodiscard]] Awaitable<error_code> take_claim();
  [[nodiscard]] Awaitable<error_code> keep();
  [[nodiscard]] Awaitable<Result<Session>> next_session();
  [[nodiscard]] Awaitable<error_code> keep_on(Session session);
  [[nodiscard]] Awaitable<error_code> take_step(Session session);
  [[nodiscard]] Awaitable<error_code> name_node(Session session);
  [[nodiscard]] Awaitable<error_code> act_on(Session session, NodeLook look);
  [[nodiscard]] Awaitable<error_code> stay(Session session, NodeLook look);
  [[nodiscard]] Awaitable<error_code> wait_for_change(Session session, NodeLook look);
  [[nodiscard]] Awaitable<error_code> write(Session session);
  [[nodiscard]] Awaitable<error_code> create_parents(Session session, error_code error);
  [[nodiscard]] Awaitable<void> back_off(Session session, int failures);
  static Awaitable<void> touch(std::shared_ptr<Keeper> self);
  [[nodiscard]] bool has_ended() const;
  [[nodiscard]] Awaitable<error_code> clean_up();
  [[nodiscard]] Awaitable<error_code> remove_on(Session session);
  [[nodiscard]] Awaitable<error_code> remove_once(Session session);
  [[nodiscard]] Awaitable<void> remove_late_nodes(Session session);
  void remove_early();

  void follow_link(const Session& session);
  void await_link(const Session& session);
  void on_link(SessionState state);
  [[nodiscard]] std::shared_ptr<Alarm> arm(Watch& watch);
  void publish(const NodeState& state);
  void tell_observers(const NodeState& state);
  [[nodiscard]] Wish wish() const;
  /// The same, for a request: if that is refused, so are these data.
  [[nodiscard]] Wish wish_to_try();
  void forget_written();
  void note_doubt(error_code outcome, const Session& session, const Wish& wanted);
  /// What the servers carry out later than they have answered, they have carried out by then [F16b].
  [[nodiscard]] static Clock::time_point end_of_lateness(const Session& session);
  [[nodiscard]] LookBy look_by() const;
  [[nodiscard]] bool others_may_write() const;
  [[nodiscard]] bool may_take_over() const;
  [[nodiscard]] NodeOptions options_now() const;
  [[nodiscard]] bool is_over(const Session& session) const { return closing_ || is_final(session.state()); }
  /// Waits until something has changed, or until then.
  [[nodiscard]] auto changed(Clock::time_point latest = Clock::time_point::max()) {
    return changed_.wait_until(latest);
  }
  [[nodiscard]] static Awaitable<bool> told(Keeper& keeper);

  const KeepOptions options_;
  const std::shared_ptr<const Observers<NodeObserver>> observers_;  // null: none
  const std::uint64_t number_ = next_number<NodeObserver>();
  NodeState told_state_{};
  NodeName name_;
  NodeStates states_;
  mutable std::mutex mutex_;  // of the next two
  Wish wish_;
  std::string node_path_;

  AsyncEvent changed_;  // the loop waits for it
  AsyncEvent told_;     // callers wait for it
  AsyncEvent touching_;
  bool closing_ = false;
  bool was_sent_ = false;              // a create may have been sent
  bool is_removing_ = false;           // close() has sent a delete, and the reply is not there
  std::optional<error_code> early_;    // the outcome of that delete
  std::optional<error_code> cleaned_;  // the outcome of all, once the loop has ended
  std::shared_ptr<PathClaim> claim_;
  OwnSessions sessions_;
  std::optional<SessionStateStream> link_;

  // what is known of the node on the current session
  std::optional<Session> session_;
  bool took_over_ = false;
  bool made_parents_ = false;
  bool is_there_ = false;      // it was, at the last look; the next step looks, and does not create
  std::int64_t czxid_ = 0;     // of the client's own node, as it was last seen
  std::int32_t version_ = 0;   // and its version
  std::uint64_t written_ = 0;  // the number of the data that it has; 0: not known
  std::uint64_t tried_ = 0;    // the number of the data that were sent last
  std::uint64_t refused_ = 0;  // the number of the data that the server has refused, or whose node it has refused
  error_code refusal_{};
  bool write_is_ambiguous_ = false;  // a write's reply was lost
  CreateDoubt doubt_;
  Clock::time_point late_until_{};  // until then a write of an earlier session may still be carried out
};

}  // namespace zklock::detail
