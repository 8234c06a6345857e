#include "ls.hpp"

#include "connection.hpp"
#include "duration.hpp"
#include "failure.hpp"

#include <zklock/path.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <sstream>

namespace zklock::tools {
namespace {

constexpr std::size_t columns = 8;
using Row = std::array<std::string, columns>;

std::string hexadecimal(std::int64_t number) {
  std::ostringstream text;
  text << "0x" << std::hex << number;
  return text.str();
}

Row row_of(const Place& place) {
  const bool foreign = place.client.empty();
  return {std::to_string(place.position),
          place.state,
          foreign ? "-" : place.client,
          foreign ? "-" : std::to_string(place.count),
          place.session,
          std::to_string(place.fencing_token),
          format_age(place.age),
          place.node};
}

}  // namespace

std::vector<Place> places(const std::vector<Participant>& line, std::chrono::system_clock::time_point now) {
  using std::chrono::milliseconds;
  std::vector<Place> result;
  for (const Participant& one : line) {
    const int position = static_cast<int>(result.size()) + 1;
    const auto age = std::chrono::duration_cast<milliseconds>(now - one.since);
    result.push_back({position, position == 1 ? "holder" : "waiting", one.client_id, one.count,
                      hexadecimal(one.session_id), one.fencing_token, std::max(age, milliseconds::zero()),
                      std::string{node_name(one.node_path)}});
  }
  return result;
}

std::string to_table(const std::vector<Place>& line) {
  std::vector<Row> rows{{"POSITION", "STATE", "CLIENT", "COUNT", "SESSION", "TOKEN", "AGE", "NODE"}};
  std::ranges::transform(line, std::back_inserter(rows), row_of);
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
  const Client client{connection.config(std::chrono::seconds{10})};
  const InterProcessMutex mutex{client, options.path};
  try {
    const auto line = places(mutex.async_participants(asio::use_future).get(), std::chrono::system_clock::now());
    std::cout << (options.json ? to_json(line) : to_table(line)) << std::flush;
  } catch (const boost::system::system_error& error) {
    if (error.code() != Error::connection_loss) throw;
    throw Failure{status::unavailable,
                  "no ZooKeeper at " + connection.connect_string() + " within " + format_duration(connect_patience)};
  }
  return std::cout ? 0 : 1;
}

}  // namespace zklock::tools
