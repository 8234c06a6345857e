// The whole of Boost.JSON, which has no other user here.
#include "doctor.hpp"
#include "ls.hpp"
#include "overview.hpp"
#include "printable.hpp"

#include <boost/json/src.hpp>

namespace zklock::tools {

namespace json = boost::json;

std::string to_json(const std::vector<Place>& places) {
  json::array array;
  for (const Place& place : places) {
    json::value client;  // null for a node that does not tell
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
    json::value holder;  // null for nobody
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

}  // namespace zklock::tools
