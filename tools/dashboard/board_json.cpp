#include "board_json.hpp"

#include "printable.hpp"

#include <zklock/path.hpp>

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace zklock::tools {
namespace {

namespace json = boost::json;

std::int64_t to_milliseconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

std::string to_text(const json::value& value) {
  std::string text = json::serialize(value);
  const bool is_ascii = std::ranges::all_of(text, [](unsigned char c) { return c < 0x7f; });
  return is_ascii ? text : to_ascii(text);
}

/// A token exceeds what a number of JavaScript can hold, sooner or later, and a session does at once: both are texts.
json::object to_object(const LockParticipant& one) {
  return {{"known", one.fencing_token > 0},
          {"node", one.node_path},
          {"name", node_name(one.node_path)},
          {"kind", to_string(one.kind)},
          {"client", one.client_id},
          {"session", has_session(one) ? to_hexadecimal(one.session_id) : "0x0"},
          {"token", std::to_string(one.fencing_token)},
          {"count", one.count},
          {"asked", one.revocation_requested},
          {"since", to_milliseconds(one.since)}};
}

json::object to_object(const BoardRow& row) {
  const BoardLock& lock = *row.lock;
  json::value holder;
  json::value waiter_since;
  if (lock.holders > 0)
    holder = {{"known", lock.holder.fencing_token > 0},
              {"client", lock.holder.client_id},
              {"session", has_session(lock.holder) ? to_hexadecimal(lock.holder.session_id) : "0x0"},
              {"since", to_milliseconds(lock.holder.since)},
              {"count", lock.holder.count},
              {"asked", lock.holder.revocation_requested}};
  if (lock.waiting > 0 && lock.waiter.fencing_token > 0) waiter_since = to_milliseconds(lock.waiter.since);
  return {{"path", lock.path},       {"kind", lock.kind},        {"holders", lock.holders},
          {"waiting", lock.waiting}, {"holder", holder},         {"waiter_since", waiter_since},
          {"live", row.is_watched},  {"readable", lock.readable}};
}

json::array to_array(const std::vector<BoardRow>& rows) {
  json::array array;
  array.reserve(rows.size());
  for (const BoardRow& row : rows) array.push_back(to_object(row));
  return array;
}

json::object to_object(const TrendPoint& point) {
  return {{"at", to_milliseconds(point.at)}, {"held", point.held}, {"waiting", point.waiting}};
}

template <class Strings>
json::array strings(const Strings& texts) {
  json::array array;
  for (const std::string& text : texts) array.push_back(json::string{text});
  return array;
}

}  // namespace

std::string to_event(std::string_view name, std::string_view json) {
  return "event: " + std::string{name} + "\ndata: " + std::string{json} + "\n\n";
}

std::string snapshot_json(const std::vector<BoardRow>& rows) {
  return to_text(json::object{{"locks", to_array(rows)}});
}

std::string delta_json(const std::vector<BoardRow>& changed, const std::vector<std::string>& gone) {
  return to_text(json::object{{"changed", to_array(changed)}, {"gone", strings(gone)}});
}

std::string detail_json(const LockBoard& board, const std::string& lock, std::size_t places, std::size_t events) {
  json::array queue;
  for (const BoardPlace& place : board.places(lock, places)) {
    json::object object = to_object(place.one);
    object["holds"] = place.holds;
    queue.push_back(std::move(object));
  }
  json::array history;
  const auto& seen = board.history(lock);
  for (auto event = seen.rbegin(); event != seen.rend() && history.size() < events; ++event) {
    json::object object = to_object(event->one);
    object["at"] = to_milliseconds(event->at);
    object["what"] = event->what == BoardEvent::What::granted ? "granted" : "released";
    object["held"] = event->held.count();
    history.push_back(std::move(object));
  }
  const BoardLock* row = board.find(lock);
  return to_text(json::object{{"path", lock},
                              {"holders", row != nullptr ? row->holders : 0},
                              {"waiting", row != nullptr ? row->waiting : 0},
                              {"places", std::move(queue)},
                              {"history", std::move(history)}});
}

std::string findings_json(const std::vector<Finding>& findings, const std::vector<Blocker>& tree,
                          const LockBoard& board) {
  json::array found;
  for (const Finding& one : findings)
    found.push_back(json::object{{"severity", to_string(one.severity)},
                                 {"kind", one.kind},
                                 {"node", one.node},
                                 {"what", one.what},
                                 {"remedy", one.remedy}});
  json::array blockers;
  for (const Blocker& one : tree) {
    json::object object = to_object(one.one);
    object["depth"] = one.depth;
    object["blocked"] = one.blocked;
    object["circle"] = one.seen_above;
    object["lock"] = board.lock_of(std::string{parent_path(one.one.node_path)});
    blockers.push_back(std::move(object));
  }
  return to_text(json::object{{"findings", std::move(found)}, {"tree", std::move(blockers)}});
}

std::string greeting_json(const Greeting& greeting) {
  json::array trend;
  for (const TrendPoint& point : greeting.trend) trend.push_back(to_object(point));
  return to_text(json::object{{"stream", greeting.stream},
                              {"connect", greeting.connect},
                              {"bases", strings(greeting.bases)},
                              {"revoke", greeting.may_revoke},
                              {"trend", std::move(trend)}});
}

std::string status_json(const BoardStatus& status) {
  json::object object{{"now", to_milliseconds(status.now)},
                      {"contact", to_milliseconds(status.contact)},
                      {"connected", status.connected},
                      {"missing", strings(status.missing)},
                      {"reads_per_second", status.reads_per_second},
                      {"watches", status.watches},
                      {"viewers", status.viewers},
                      {"oldest", status.oldest.count()}};
  if (status.trend != nullptr) object["trend"] = to_object(*status.trend);
  return to_text(object);
}

}  // namespace zklock::tools
