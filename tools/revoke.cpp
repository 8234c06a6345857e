#include "revoke.hpp"

#include "audit_file.hpp"
#include "connection.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "printable.hpp"
#include "wait_queues.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/locks/revocation.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <future>
#include <iostream>
#include <string>
#include <vector>

namespace zklock::tools {
namespace {

std::vector<LockParticipant> holders_of(const ClientHandle& client, const std::string& directory) {
  std::vector<LockParticipant> result;
  for (const WaitQueue& queue : read_queues(client, directory)) {
    const auto granted = holders(queue);
    for (std::size_t i = 0; i < queue.size(); ++i)
      if (granted[i]) result.push_back(queue[i]);
  }
  const SemaphoreQueues semaphore = read_semaphore(client, directory);
  for (const LockParticipant& permit : semaphore.permits)
    if (is_held_permit(semaphore, permit)) result.push_back(permit);
  return result;
}

/// The participant of the node; empty if it is gone.
std::vector<LockParticipant> owner_of(const ClientHandle& client, const std::string& node_path) {
  for (const WaitQueue& queue : read_queues(client, std::string{parent_path(node_path)}))
    for (const LockParticipant& one : queue)
      if (one.node_path == node_path) return {one};
  return {};
}

/// Only a node that a client has created in a wait queue may be written to.
std::vector<LockParticipant> addressees(const ClientHandle& client, const std::string& path) {
  auto found = queue_kind_of(path) ? owner_of(client, path) : holders_of(client, path);
  for (const LockParticipant& one : found)
    if (!has_session(one))
      throw Failure{status::unavailable,
                    one.node_path + " belongs to no session: there is nobody to ask. Delete it, if it is not needed"};
  return found;
}

/// Waits, and tells whether the node is gone by the deadline.
bool wait_gone(const ClientHandle& client, const std::string& node_path, Clock::time_point deadline) {
  for (;;) {
    auto [stat, watch] = client.async_exists_and_watch(node_path, asio::use_future).get();
    if (!stat) return true;
    auto change = watch.async_wait(asio::use_future);
    const auto left = std::max(deadline - Clock::now(), Clock::duration::zero());
    if (change.wait_for(left) == std::future_status::timeout) return false;
    // The next reading shows what has happened, or that the session has ended.
  }
}

/// Asks one holder, and records it.
void ask(const ClientHandle& client, const LockParticipant& holder, AuditLog* audit) {
  const std::string user = user_name();
  RevokeEvent event{.asked_by = "zklock revoke",
                    .user_name = user,
                    .node_path = holder.node_path,
                    .fencing_token = holder.fencing_token};
  const auto record = [&] {
    if (audit) audit->on_revoke(event);
  };
  try {
    attempt_revoke(client, holder.node_path);
  } catch (const boost::system::system_error& failure) {
    event.error = failure.code();
    record();
    throw;
  }
  record();
}

int ask_all(const ClientHandle& client, const RevokeOptions& options) {
  const auto audit = open_audit(options.audit, AuditOutput::file);
  const auto asked = addressees(client, options.path);
  if (asked.empty()) std::cout << "nobody holds " + printable(options.path) + "\n" << std::flush;
  for (const LockParticipant& one : asked) {
    ask(client, one, audit.get());
    std::cout << printable("asked " + name_of_client(one) + " to give back " + one.node_path) + "\n" << std::flush;
  }
  if (!options.wait) return 0;
  const auto deadline = *after(*options.wait);
  const auto still_there = static_cast<std::size_t>(std::ranges::count_if(
      asked, [&](const LockParticipant& one) { return !wait_gone(client, one.node_path, deadline); }));
  if (still_there == 0) return 0;
  say(std::to_string(still_there) + " of " + std::to_string(asked.size()) + " not given back within " +
      format_duration(*options.wait));
  return status::found;
}

}  // namespace

int revoke(const RevokeOptions& options) {
  const Connection connection{options.where};
  return connection.with_client([&](const Client& client) { return ask_all(client, options); });
}

}  // namespace zklock::tools
