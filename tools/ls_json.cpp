#include "ls.hpp"

// The whole of Boost.JSON, which has no other user here.
#include <boost/json/src.hpp>

namespace zklock::tools {

namespace json = boost::json;

std::string to_json(const std::vector<Place>& line) {
  json::array array;
  for (const Place& place : line) {
    json::value client;  // null for a node that is not zklock's
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
                                 {"node", place.node}});
  }
  return json::serialize(array) + "\n";
}

}  // namespace zklock::tools
