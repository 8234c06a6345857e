#include "audit_trail.hpp"

#include <boost/json/src.hpp>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>

namespace zklock::chaos {
namespace {

namespace json = boost::json;

AuditRecord::Kind kind_of(std::string_view action) {
  using Kind = AuditRecord::Kind;
  static const std::map<std::string_view, Kind> kinds{{"lock.granted", Kind::granted},
                                                      {"lock.released", Kind::released},
                                                      {"lock.lost", Kind::lost},
                                                      {"audit.dropped", Kind::dropped}};
  const auto found = kinds.find(action);
  return found == kinds.end() ? Kind::other : found->second;
}

std::string text_of(const json::object& line, std::string_view key) {
  const json::value* value = line.if_contains(key);
  return value && value->is_string() ? std::string{value->get_string()} : std::string{};
}

std::int64_t number_of(const json::object& line, std::string_view key) {
  const json::value* value = line.if_contains(key);
  return value && value->is_int64() ? value->get_int64() : 0;
}

/// "2026-11-22T12:00:00.123456Z", in microseconds since 1970.
std::int64_t time_of(const std::string& text) {
  std::tm fields{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S.", &fields);
  return rest == nullptr ? 0 : std::int64_t{::timegm(&fields)} * 1'000'000 + std::atoll(rest);
}

}  // namespace

std::optional<AuditRecord> parse_audit(std::string_view line, int process) {
  boost::system::error_code error;
  const json::value value = json::parse(line, error);
  if (error || !value.is_object()) return std::nullopt;
  const json::object& keys = value.get_object();
  return AuditRecord{
      .kind = kind_of(text_of(keys, "event.action")),
      .process = process,
      .at = time_of(text_of(keys, "@timestamp")),
      .sequence = number_of(keys, "event.sequence"),
      .attempt = number_of(keys, "zklock.attempt"),
      .session = static_cast<std::int64_t>(std::strtoull(text_of(keys, "zklock.client.session").c_str(), nullptr, 16)),
      .token = number_of(keys, "zklock.fencing_token"),
      .dropped = number_of(keys, "zklock.dropped"),
      .node = text_of(keys, "zklock.lock.path") + "/" + text_of(keys, "zklock.node"),
      .cause = text_of(keys, "error.type")};
}

std::vector<AuditRecord> read_audit(const std::filesystem::path& path, int process) {
  std::vector<AuditRecord> all;
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);)
    if (auto record = parse_audit(line, process)) all.push_back(std::move(*record));
  return all;
}

}  // namespace zklock::chaos
