// What `zklock tree`, `watch` and `leaders` print: nodes may have any name and any data.
#include "check.hpp"
#include "leaders.hpp"
#include "tree.hpp"

#include <zklock/path.hpp>

#include <boost/json/src.hpp>

#include <algorithm>
#include <chrono>
#include <memory>

using namespace zklock;
using fuzz::check;

namespace {

using Now = std::chrono::system_clock::time_point;
constexpr Now now{std::chrono::hours{24 * 365 * 50}};

/// Lines that a terminal shows as they are.
void check_lines(const std::string& text, std::ptrdiff_t lines) {
  check(text.ends_with('\n') && std::ranges::count(text, '\n') == lines, "each thing has one line");
  for (const char byte : text)
    check(byte == '\n' || (static_cast<unsigned char>(byte) >= ' ' && byte != 0x7f), "no byte controls the terminal");
  for (const std::string_view hidden : {"\xC2\x9B", "\xE2\x80\xAE", "\xE2\x80\x8B", "\xEF\xBB\xBF"})
    check(text.find(hidden) == std::string::npos, "no character hides, or turns, the text");
}

boost::json::value parsed(const std::string& json) {
  check_lines(json, 1);
  check(std::ranges::all_of(json, [](char byte) { return static_cast<unsigned char>(byte) < 0x7f; }), "JSON is ASCII");
  boost::system::error_code error;
  boost::json::value value = boost::json::parse(json, error);
  check(!error, "JSON is JSON");
  return value;
}

}  // namespace

/// Flags, the length of the name, the name, the data.
void fuzz_one(std::string_view input) {
  if (input.size() < 2) return;
  const auto flags = static_cast<unsigned char>(input[0]);
  const auto length = static_cast<unsigned char>(input[1]);
  input.remove_prefix(2);
  std::string name{input.substr(0, length)};
  std::ranges::replace(name, '/', '_');
  if (name.empty()) name = "n";

  auto node = std::make_shared<ChildData>();
  node->path = join_path("/app", name);
  node->data = input.substr(std::min<std::size_t>(length, input.size()));
  node->stat.ephemeral_owner = static_cast<std::int64_t>(flags) << 56 | static_cast<std::int64_t>(input.size());
  node->stat.version = static_cast<std::int32_t>(input.size());
  if (flags & 1) node->error = make_error_code(Error::no_auth);
  const auto root = std::make_shared<ChildData>(ChildData{.path = "/app", .data = node->data, .stat = {}});

  const CacheSnapshot nodes{{root->path, root}, {node->path, node}};
  check_lines(tools::tree_to_table(nodes, "/app"), 3);
  check(parsed(tools::tree_to_json(nodes)).as_array().size() == 2, "each node is in the JSON");

  CacheEvent event;
  event.type = static_cast<CacheEvent::Type>(flags % 8);
  if (event.type <= CacheEvent::Type::unreadable) event.path = node->path;
  if (event.type <= CacheEvent::Type::unreadable && event.type != CacheEvent::Type::deleted) event.now = node;
  event.skipped = flags;
  check_lines(tools::event_to_text(event), 1);
  check(parsed(tools::event_to_json(event, now)).as_object().contains("type"), "an event has its type");

  Leader leader;
  leader.id = node->data;
  leader.node_path = node->path;
  leader.session_id = node->stat.ephemeral_owner;
  leader.since = now - std::chrono::seconds{node->stat.ephemeral_owner % 1'000'000'000};
  check_lines(tools::to_table({leader, leader}, now), 3);
  check(parsed(tools::to_json({leader}, now)).as_array().size() == 1, "each candidate is in the JSON");
}
