#include "revoke.hpp"

#include "connection.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "lines.hpp"
#include "printable.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/revocation.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <future>
#include <iostream>
#include <string>
#include <vector>

namespace zklock::tools {
namespace {

std::vector<Participant> holders_of(const ClientHandle& client, const std::string& directory) {
  std::vector<Participant> result;
  for (const Line& line : read_lines(client, directory)) {
    const auto granted = holders(line);
    for (std::size_t i = 0; i < line.size(); ++i)
      if (granted[i]) result.push_back(line[i]);
  }
  const SemaphoreLines semaphore = read_semaphore(client, directory);
  for (const Participant& permit : semaphore.permits)
    if (is_held_permit(semaphore, permit)) result.push_back(permit);
  return result;
}

/// The one whose node it is; nobody if it is gone.
std::vector<Participant> owner_of(const ClientHandle& client, const std::string& node_path) {
  for (const Line& line : read_lines(client, std::string{parent_path(node_path)}))
    for (const Participant& one : line)
      if (one.node_path == node_path) return {one};
  return {};
}

/// A node that a client has made to stand in line, and nothing else, may be written to.
std::vector<Participant> addressees(const ClientHandle& client, const std::string& path) {
  auto found = line_of(path) ? owner_of(client, path) : holders_of(client, path);
  for (const Participant& one : found)
    if (!has_session(one))
      throw Failure{status::unavailable,
                    one.node_path + " belongs to no session: there is nobody to ask. Delete it, if it is not needed"};
  return found;
}

/// Whether the node is gone by then.
bool wait_gone(const ClientHandle& client, const std::string& node_path, Clock::time_point deadline) {
  for (;;) {
    auto [stat, watch] = client.async_exists_and_watch(node_path, asio::use_future).get();
    if (!stat) return true;
    auto change = watch.async_wait(asio::use_future);
    const auto left = std::max(deadline - Clock::now(), Clock::duration::zero());
    if (change.wait_for(left) == std::future_status::timeout) return false;
    // What has happened, or that the session has ended, shows at the next look.
  }
}

int ask(const ClientHandle& client, const RevokeOptions& options) {
  const auto asked = addressees(client, options.path);
  if (asked.empty()) std::cout << "nobody holds " + printable(options.path) + "\n" << std::flush;
  for (const Participant& one : asked) {
    attempt_revoke(client, one.node_path);
    std::cout << printable("asked " + name_of_client(one) + " to give back " + one.node_path) + "\n" << std::flush;
  }
  if (!options.wait) return 0;
  const auto deadline = *after(*options.wait);
  const auto still_there = static_cast<std::size_t>(std::ranges::count_if(
      asked, [&](const Participant& one) { return !wait_gone(client, one.node_path, deadline); }));
  if (still_there == 0) return 0;
  say(std::to_string(still_there) + " of " + std::to_string(asked.size()) + " not given back within " +
      format_duration(*options.wait));
  return status::found;
}

}  // namespace

int revoke(const RevokeOptions& options) {
  const Connection connection{options.where};
  return connection.with_client([&](const Client& client) { return ask(client, options); });
}

}  // namespace zklock::tools
