// Compiles all of Boost.JSON, once for the program.
#include "doctor.hpp"
#include "ls.hpp"
#include "overview.hpp"
#include "printable.hpp"
#include "top_rows.hpp"

#include <boost/json/src.hpp>

namespace zklock::tools {

namespace json = boost::json;

std::string to_json(const std::vector<Place>& places) {
  json::array array;
  for (const Place& place : places) {
    json::value client;  // null if the node's data does not tell it
    json::value count;
    if (!place.client.empty()) {
      client = place.client;
      count = place.count;
    }
    array.push_back(json::object{{"position", place.position},
                                 {"state", place.state},
                                 {"client", client},
                                 {"count", count},
                                 {"session", place.session},
                                 {"fencing_token", place.fencing_token},
                                 {"age_ms", place.age.count()},
                                 {"node", place.node},
                                 {"kind", place.kind}});
  }
  return to_ascii(json::serialize(array)) + "\n";
}

std::string permits_to_json(const std::string& path, std::int32_t permits) {
  const json::array array{json::object{{"path", path}, {"kind", "shared-permits"}, {"permits", permits}}};
  return to_ascii(json::serialize(array)) + "\n";
}

std::string to_json(const std::vector<Summary>& locks) {
  json::array array;
  for (const Summary& one : locks) {
    json::value holder;  // null if there is none
    json::value since;
    if (!one.holder.empty()) {
      holder = one.holder;
      since = one.since.count();
    }
    array.push_back(json::object{{"path", one.path},
                                 {"kind", one.kind},
                                 {"holders", one.holders},
                                 {"waiting", one.waiting},
                                 {"holder", holder},
                                 {"age_ms", since}});
  }
  return to_ascii(json::serialize(array)) + "\n";
}

std::string to_json(const Diagnosis& diagnosis) {
  json::array findings;
  for (const Finding& one : diagnosis.findings)
    findings.push_back(json::object{{"severity", to_string(one.severity)},
                                    {"kind", one.kind},
                                    {"node", one.node},
                                    {"what", one.what},
                                    {"remedy", one.remedy}});
  const json::object object{{"locks", diagnosis.locks}, {"nodes", diagnosis.nodes}, {"findings", std::move(findings)}};
  return to_ascii(json::serialize(object)) + "\n";
}

namespace {

std::int64_t milliseconds_of(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

std::string line_of(json::object object, WallTime now) {
  object["time_ms"] = milliseconds_of(now);
  return to_ascii(json::serialize(object)) + "\n";
}

}  // namespace

std::string to_json(const TopRow& row, WallTime now) {
  const auto age = [](const auto& known) { return known ? json::value(known->count()) : json::value(); };
  json::value holder;  // null if there is none
  if (!row.holder.empty()) holder = row.holder;
  return line_of({{"path", row.path},
                  {"kind", row.kind},
                  {"holders", row.holders},
                  {"waiting", row.waiting},
                  {"holder", holder},
                  {"asked", row.is_asked},
                  {"held_ms", age(row.held)},
                  {"wait_ms", age(row.wait)}},
                 now);
}

std::string gone_to_json(const std::string& path, WallTime now) {
  return line_of({{"path", path}, {"gone", true}}, now);
}

std::string link_to_json(bool connected, WallTime contact, WallTime now) {
  return line_of({{"connected", connected}, {"contact_ms", milliseconds_of(contact)}}, now);
}

std::string base_to_json(const std::string& path, bool exists, WallTime now) {
  return line_of({{"base", path}, {"exists", exists}}, now);
}

}  // namespace zklock::tools
