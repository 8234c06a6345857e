#include "ls.hpp"

#include "connection.hpp"
#include "duration.hpp"

#include <zklock/path.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>
#include <utility>

namespace zklock::tools {
namespace {

constexpr std::size_t columns = 9;
using Row = std::array<std::string, columns>;

Row row_of(const Place& place) {
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

std::string state_of(const Line& line, std::size_t index) {
  if (!is_holder(line, index)) return "waiting";
  return line[index].revocation_requested ? "asked" : "holder";
}

Place place_of(const Line& line, std::size_t index, std::chrono::system_clock::time_point now) {
  using std::chrono::milliseconds;
  const Participant& one = line[index];
  const auto age = std::chrono::duration_cast<milliseconds>(now - one.since);
  return {static_cast<int>(index) + 1,
          state_of(line, index),
          one.client_id,
          one.count,
          to_hexadecimal(one.session_id),
          one.fencing_token,
          std::max(age, milliseconds::zero()),
          std::string{to_string(one.kind)},
          std::string{node_name(one.node_path)}};
}

}  // namespace

std::vector<Place> places(const std::vector<Line>& lines, std::chrono::system_clock::time_point now) {
  std::vector<Place> result;
  for (const Line& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) result.push_back(place_of(line, i, now));
  return result;
}

std::vector<Place> places(const SemaphoreLines& semaphore, std::chrono::system_clock::time_point now) {
  std::vector<Place> result;
  const auto add = [&](const Line& line, std::size_t index, std::string_view directory) -> Place& {
    Place place = place_of(line, index, now);
    place.position = static_cast<int>(result.size()) + 1;
    place.node = join_path(directory, place.node);
    return result.emplace_back(std::move(place));
  };
  for (std::size_t i = 0; i < semaphore.permits.size(); ++i) {
    Place& place = add(semaphore.permits, i, leases_name);
    if (!is_held_permit(semaphore, semaphore.permits[i])) place.state = "waiting";
  }
  for (std::size_t i = 0; i < semaphore.waiting.size(); ++i) add(semaphore.waiting, i, locks_name).state = "waiting";
  return result;
}

std::string to_table(const std::vector<Place>& places) {
  std::vector<Row> rows{{"POSITION", "STATE", "CLIENT", "COUNT", "SESSION", "TOKEN", "AGE", "KIND", "NODE"}};
  std::ranges::transform(places, std::back_inserter(rows), row_of);
  std::array<std::size_t, columns> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string table;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < columns; ++i) table += row[i] + std::string(widths[i] + 2 - row[i].size(), ' ');
    table += row.back() + "\n";
  }
  return table;
}

int ls(const LsOptions& options) {
  const Connection connection{options.where};
  const auto all = connection.with_client([&](const Client& client) {
    const auto lines = read_lines(client, options.path);
    const auto semaphore = read_semaphore(client, options.path);
    const auto now = std::chrono::system_clock::now();
    auto result = places(lines, now);
    std::ranges::move(places(semaphore, now), std::back_inserter(result));
    return result;
  });
  std::cout << (options.json ? to_json(all) : to_table(all)) << std::flush;
  return std::cout ? 0 : 1;
}

}  // namespace zklock::tools
