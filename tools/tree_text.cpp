#include "hexadecimal.hpp"
#include "printable.hpp"
#include "table.hpp"
#include "tree.hpp"

#include <zklock/path.hpp>

#include <boost/json.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace zklock::tools {
namespace {

namespace json = boost::json;

constexpr std::size_t longest_data = 60;  // of a row, in bytes

/// A container's owner and that of a node with a time to live are no sessions.
std::string owner_of(const Stat& stat) {
  const auto owner = static_cast<std::uint64_t>(stat.ephemeral_owner);
  if (owner == 0) return "-";
  if (owner == std::uint64_t{1} << 63) return "container";
  return owner >> 56 == 0xff ? "ttl" : to_hexadecimal(stat.ephemeral_owner);
}

std::string brief_data(const ChildData& node) {
  if (node.error) return "(" + node.error.message() + ")";
  if (node.data.size() <= longest_data) return node.data.empty() ? "-" : node.data;
  return node.data.substr(0, longest_data) + "... (" + std::to_string(node.data.size()) + " bytes)";
}

std::size_t level_of(const std::string& path, const std::string& root) {
  if (path == root) return 0;
  const std::size_t above = root == "/" ? 0 : root.size();
  return static_cast<std::size_t>(std::count(path.begin() + static_cast<std::ptrdiff_t>(above), path.end(), '/'));
}

json::object to_object(const ChildData& node) {
  json::object object{{"path", node.path}};
  if (node.error) object["error"] = node.error.message();
  if (node.error) return object;
  object["data"] = node.data;
  object["bytes"] = node.stat.data_length;
  object["version"] = node.stat.version;
  object["czxid"] = node.stat.czxid;
  object["mzxid"] = node.stat.mzxid;
  object["owner"] = owner_of(node.stat);
  return object;
}

}  // namespace

std::string tree_to_table(const CacheSnapshot& nodes, const std::string& root) {
  Table table{{"NODE", "OWNER", "VERSION", "DATA"}};
  for (const auto& [path, node] : nodes) {
    const std::string name = path == root ? path : std::string{node_name(path)};
    table.push_back({std::string(2 * level_of(path, root), ' ') + name, owner_of(node->stat),
                     node->error ? "-" : std::to_string(node->stat.version), brief_data(*node)});
  }
  return to_text(table);
}

std::string tree_to_json(const CacheSnapshot& nodes) {
  json::array array;
  for (const auto& [path, node] : nodes) array.push_back(to_object(*node));
  return to_ascii(json::serialize(array)) + "\n";
}

std::string event_to_text(const CacheEvent& event) {
  std::string line{to_string(event.type)};
  if (!event.path.empty()) line += " " + printable(event.path);
  if (event.now && event.type != CacheEvent::Type::unreadable) {
    line += " v" + std::to_string(event.now->stat.version);
    if (event.skipped > 0) line += " (" + std::to_string(event.skipped) + " versions not shown)";
    if (event.now->stat.ephemeral_owner != 0) line += " " + owner_of(event.now->stat);
  }
  if (event.now) line += " " + printable(brief_data(*event.now));
  return line + "\n";
}

std::string event_to_json(const CacheEvent& event, std::chrono::system_clock::time_point now) {
  json::object object{{"type", to_string(event.type)}};
  if (event.now) {
    for (const auto& [key, value] : to_object(*event.now)) object[key] = value;
  } else if (!event.path.empty()) {
    object["path"] = event.path;
  }
  if (event.skipped > 0) object["skipped"] = event.skipped;
  object["time_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  return to_ascii(json::serialize(object)) + "\n";
}

}  // namespace zklock::tools
