// A number that a process holds: its nodes, and the time stamps that are reserved.
#pragma once

#include "session_hold.hpp"
#include "unattended.hpp"
#include "worker_steps.hpp"

#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipe_kit/recipe_core.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/worker_ids/worker_ids.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace zklock::detail {

/// Where the numbers are: ephemeral ids/<n> is held by the owner that it names; persistent last/<n> is a LastUse.
class WorkerIdsCore : public RecipeCore {
 public:
  WorkerIdsCore(const ClientHandle& client, std::string path, WorkerIdSettings settings);

  [[nodiscard]] int count() const noexcept { return settings_.count; }
  [[nodiscard]] std::int64_t tick() const noexcept { return settings_.tick.count(); }
  [[nodiscard]] const std::string& ids() const noexcept { return ids_; }
  [[nodiscard]] const std::string& last() const noexcept { return last_; }
  /// In milliseconds since 1970: the last tick.
  [[nodiscard]] std::int64_t now() const;

 private:
  WorkerIdSettings settings_;
  std::string ids_;
  std::string last_;
};

/// Threads: the functions marked so, any; the others on the session's executor.
class Worker : public std::enable_shared_from_this<Worker> {
 public:
  /// A number that is free by what was read of it.
  Worker(std::shared_ptr<const WorkerIdsCore> ids, Session session, int number, const LastUse& before);

  // any thread
  [[nodiscard]] const WorkerIdsCore& ids() const noexcept { return *ids_; }
  [[nodiscard]] const Session& session() const noexcept { return session_; }
  [[nodiscard]] const std::shared_ptr<SessionHold>& hold() const noexcept { return hold_; }
  [[nodiscard]] int number() const noexcept { return number_; }
  /// time_point{} once it is lost or released.
  [[nodiscard]] Clock::time_point valid_until() const noexcept;
  [[nodiscard]] std::optional<std::int64_t> try_time_stamp();
  /// No time stamp is given any more.
  void stop();

  /// Takes the number. Error::node_exists: another client has it.
  [[nodiscard]] static Awaitable<Result<WorkerId>> claim(std::shared_ptr<Worker> self);
  void release(std::shared_ptr<Unattended> waiting);

 private:
  static Awaitable<error_code> write(std::shared_ptr<Worker> self, WorkerWrite kind);
  static Awaitable<error_code> keep(std::shared_ptr<Worker> self);
  static Awaitable<Result<NumberSeen>> look(std::shared_ptr<Worker> self);

  [[nodiscard]] std::int64_t end_after(WorkerWrite kind) const;
  [[nodiscard]] Transaction transaction(WorkerWrite kind, std::int64_t end) const;
  [[nodiscard]] bool is_due() const;
  [[nodiscard]] bool is_stopped() const;
  void on_written(std::int64_t end);
  void on_ended(error_code error);

  std::shared_ptr<const WorkerIdsCore> ids_;
  Session session_;
  int number_;
  std::string owner_;  ///< a name of its own for each claim
  std::string id_path_;
  std::string last_path_;
  std::int64_t from_;  ///< time stamps before that were another owner's
  std::int32_t version_;
  std::shared_ptr<SessionHold> hold_;
  AsyncEvent stopping_;
  bool has_ended_ = false;
  std::vector<std::shared_ptr<Unattended>> waiting_;

  mutable std::mutex mutex_;
  std::int64_t end_ = 0;              ///< time stamps from then on are not reserved
  std::optional<std::int64_t> used_;  ///< the last one
  bool is_stopped_ = false;
};

}  // namespace zklock::detail
