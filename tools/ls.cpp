#include "ls.hpp"

#include "connection.hpp"
#include "duration.hpp"
#include "overview.hpp"
#include "printable.hpp"
#include "table.hpp"

#include <zklock/path.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <optional>
#include <utility>

namespace zklock::tools {
namespace {

std::vector<std::string> cells_of(const Place& place) {
  const bool foreign = place.client.empty();
  return {std::to_string(place.position),
          place.state,
          foreign ? "-" : place.client,
          foreign ? "-" : std::to_string(place.count),
          place.session,
          std::to_string(place.fencing_token),
          format_age(place.age),
          place.kind,
          place.node};
}

std::string state_of(const LockParticipant& one, bool holds) {
  if (!holds) return "waiting";
  return one.revocation_requested ? "asked" : "holder";
}

Place place_of(const LockParticipant& one, std::size_t index, bool holds, std::chrono::system_clock::time_point now) {
  using std::chrono::milliseconds;
  const auto age = std::chrono::duration_cast<milliseconds>(now - one.since);
  return {static_cast<int>(index) + 1,
          state_of(one, holds),
          one.client_id,
          one.count,
          to_hexadecimal(one.session_id),
          one.fencing_token,
          std::max(age, milliseconds::zero()),
          std::string{to_string(one.kind)},
          std::string{node_name(one.node_path)}};
}

}  // namespace

std::vector<Place> places(const std::vector<WaitQueue>& queues, std::chrono::system_clock::time_point now) {
  std::vector<Place> result;
  for (const WaitQueue& queue : queues) {
    const auto granted = holders(queue);
    for (std::size_t i = 0; i < queue.size(); ++i) result.push_back(place_of(queue[i], i, granted[i], now));
  }
  return result;
}

std::vector<Place> places(const SemaphoreQueues& semaphore, std::chrono::system_clock::time_point now) {
  std::vector<Place> result;
  const auto add = [&](const LockParticipant& one, std::string_view directory, bool holds) {
    Place place = place_of(one, result.size(), holds, now);
    place.node = join_path(directory, place.node);
    result.push_back(std::move(place));
  };
  for (const LockParticipant& permit : semaphore.permits) add(permit, leases_name, is_held_permit(semaphore, permit));
  for (const LockParticipant& one : semaphore.waiting) add(one, locks_name, false);
  return result;
}

std::string to_table(const std::vector<Place>& places) {
  Table table{{"POSITION", "STATE", "CLIENT", "COUNT", "SESSION", "TOKEN", "AGE", "KIND", "NODE"}};
  std::ranges::transform(places, std::back_inserter(table), cells_of);
  return to_text(table);
}

namespace {

std::vector<Place> places_at(const ClientHandle& client, const std::string& path) {
  const auto queues = read_queues(client, path);
  const auto semaphore = read_semaphore(client, path);
  const auto now = std::chrono::system_clock::now();
  auto result = places(queues, now);
  std::ranges::move(places(semaphore, now), std::back_inserter(result));
  return result;
}

/// The locks below the path; reports on stderr what could not be read.
std::vector<Summary> locks_below(const ClientHandle& client, const std::string& path) {
  const auto found = survey(client, {path}, {});
  if (!found.cut_off.empty()) say("not all was looked at: start at a path further down than " + found.cut_off.front());
  for (const std::string& unreadable : found.unreadable) say("no permission to read " + unreadable);
  return summaries(found, std::chrono::system_clock::now());
}

/// The number that the node of a SharedPermits stores.
std::optional<std::int32_t> shared_permits(const ClientHandle& client, const std::string& path) {
  const DataResult node = client.async_get_data(path, asio::use_future).get();
  if (node.data.size() != sizeof(std::int32_t) || node.stat.num_children != 0) return std::nullopt;
  std::uint32_t number = 0;
  for (const char byte : node.data) number = number << 8U | static_cast<unsigned char>(byte);
  return static_cast<std::int32_t>(number);
}

std::string show(const ClientHandle& client, const LsOptions& options) {
  const auto in_words = [&](const auto& rows) { return options.json ? to_json(rows) : to_table(rows); };
  const std::string& path = options.path;
  if (path != "/")
    if (const auto places = places_at(client, path); !places.empty()) return in_words(places);
  if (!client.async_exists(path, asio::use_future).get()) {
    say("there is no node " + path + ", as for a lock that nobody holds or waits for");
    return in_words(std::vector<Place>{});
  }
  if (const auto below = locks_below(client, path); !below.empty()) return in_words(below);
  if (const auto permits = shared_permits(client, path)) {
    if (options.json) return permits_to_json(path, *permits);
    return printable(path) + " keeps a number of permits: " + std::to_string(*permits) + "\n";
  }
  say("nobody holds or waits for a lock at " + path + ", or below");
  return in_words(std::vector<Place>{});
}

}  // namespace

int ls(const LsOptions& options) {
  const Connection connection{options.where};
  std::cout << connection.with_client([&](const Client& client) { return show(client, options); }) << std::flush;
  return std::cout ? 0 : 1;
}

}  // namespace zklock::tools
