#include "duration.hpp"
#include "hexadecimal.hpp"
#include "leaders.hpp"
#include "printable.hpp"
#include "table.hpp"

#include <zklock/path.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace zklock::tools {
namespace {

using Now = std::chrono::system_clock::time_point;
using std::chrono::milliseconds;

milliseconds age_of(const Leader& one, Now now) {
  return std::max(std::chrono::duration_cast<milliseconds>(now - one.since), milliseconds::zero());
}

std::string_view state_at(std::size_t position) { return position == 0 ? "leader" : "waiting"; }

}  // namespace

std::string to_table(const std::vector<Leader>& candidates, Now now) {
  Table table{{"POSITION", "STATE", "ID", "SESSION", "TOKEN", "AGE", "NODE"}};
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Leader& one = candidates[i];
    table.push_back({std::to_string(i + 1), std::string{state_at(i)}, one.id.empty() ? "-" : one.id,
                     to_hexadecimal(one.session_id), std::to_string(one.fencing_token), format_age(age_of(one, now)),
                     std::string{node_name(one.node_path)}});
  }
  return to_text(table);
}

std::string to_json(const std::vector<Leader>& candidates, Now now) {
  boost::json::array array;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Leader& one = candidates[i];
    array.push_back(boost::json::object{{"position", i + 1},
                                        {"state", state_at(i)},
                                        {"id", one.id},
                                        {"session", to_hexadecimal(one.session_id)},
                                        {"fencing_token", one.fencing_token},
                                        {"age_ms", age_of(one, now).count()},
                                        {"node", node_name(one.node_path)}});
  }
  return to_ascii(boost::json::serialize(array)) + "\n";
}

}  // namespace zklock::tools
