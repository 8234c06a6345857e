#include "pages.hpp"

#include "await.hpp"
#include "board_metrics.hpp"
#include "counted.hpp"
#include "failure.hpp"
#include "page_text.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/locks/revocation.hpp>
#include <zklock/timer.hpp>

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <new>
#include <optional>

namespace zklock::tools {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

/// The body, if it is a JSON object.
std::optional<json::object> object_of(const WebRequest& request) {
  boost::system::error_code error;
  json::value value = json::parse(request.body, error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.as_object());
}

/// Empty if there is no such text.
std::string text_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->as_string()} : std::string{};
}

WebReply no_content() { return {204, "", ""}; }
WebReply malformed() { return plain_text(400, "malformed"); }

bool is_below(const std::string& node, const std::vector<std::string>& bases) {
  return std::ranges::any_of(
      bases, [&](const std::string& base) { return node.starts_with(base == "/" ? base : base + "/"); });
}

/// 0 if it is no number: no node has that.
std::int64_t number_of(const std::string& text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  return std::from_chars(text.data(), end, number).ptr == end ? number : 0;
}

}  // namespace

asio::awaitable<WebReply> Pages::answer(WebRequest request) {
  if (auto refusal = refuse(options_.access, request)) {
    if (refusal->status == 401 && request.has("authorization")) co_await slow_down();
    co_return std::move(*refusal);
  }
  const bool is_post = request.method == "POST";
  const std::string& path = request.path;
  if (!is_post && path == "/") {
    WebReply page{200, "text/html; charset=utf-8", std::string{page_html}};
    page.headers.emplace_back("Content-Security-Policy", std::string{page_policy});
    co_return page;
  }
  if (!is_post && path == "/api/session") co_return no_content();
  if (is_post && path == "/api/session") {
    WebReply reply = log_in(request);
    if (reply.status == 401) co_await slow_down();
    co_return reply;
  }
  if (is_post && path == "/api/view") co_return set_view(request);
  if (is_post && path == "/api/revoke") {
    if (!options_.may_revoke) co_return plain_text(403, "this dashboard is read-only: start it with --allow-revoke");
    const auto wanted = object_of(request);
    if (!wanted) co_return malformed();
    auto revoking = revoke(text_of(*wanted, "node"), text_of(*wanted, "czxid"));
    co_return co_await std::move(revoking);
  }
  if (!is_post && path == "/metrics")
    co_return WebReply{200, "text/plain; version=0.0.4; charset=utf-8", to_metrics(feed_.board(), feed_.status())};
  if (!is_post && path == "/livez") co_return plain_text(200, "ok");
  if (!is_post && (path == "/readyz" || path == "/healthz")) co_return ready();
  co_return plain_text(404, "there is nothing here");
}

std::unique_ptr<EventSource> Pages::open_stream(const WebRequest& request) {
  return refuse(options_.access, request) ? nullptr : board_.open();
}

WebReply Pages::log_in(const WebRequest& request) const {
  const auto wanted = object_of(request);
  if (!wanted) return malformed();
  if (options_.access.token.empty()) return no_content();
  if (!is_same_secret(text_of(*wanted, "token"), options_.access.token))
    return plain_text(401, "that is not the token");
  WebReply reply = no_content();
  reply.headers.emplace_back("Set-Cookie", make_cookie(options_.access));
  return reply;
}

/// After a wrong token: says so, and lets its sender wait. The server's bound of connections bounds both.
asio::awaitable<void> Pages::slow_down() {
  say("a wrong token was sent, " + counted(++wrong_tokens_, "time") + " so far");
  Timer timer{co_await asio::this_coro::executor, std::chrono::seconds{1}};
  co_await timer.async_wait(use_tuple);
}

WebReply Pages::set_view(const WebRequest& request) {
  const auto wanted = object_of(request);
  if (!wanted) return malformed();
  std::vector<std::string> seen;
  const json::value* rows = wanted->if_contains("seen");
  if (rows == nullptr || !rows->is_array()) return malformed();
  for (const json::value& row : rows->as_array())
    if (row.is_string()) seen.emplace_back(row.as_string());
  const bool known = board_.look(text_of(*wanted, "stream"), std::move(seen), text_of(*wanted, "open"));
  return known ? no_content() : plain_text(404, "there is no such stream");
}

WebReply Pages::ready() const {
  const ConnectionState state = client_.state();
  WebReply reply = json_text(R"({"state":")" + std::string{to_string(state)} + R"("})");
  reply.status = is_connected(state) ? 200 : 503;
  return reply;
}

/// Only a node that a client has created in a wait queue below the bases, and that still is the one that was shown, is
/// written to.
asio::awaitable<WebReply> Pages::revoke(std::string node, std::string czxid) {
  RevokeEvent event{.asked_by = "zklock dashboard", .node_path = node, .fencing_token = number_of(czxid)};
  if (validate_path(node, std::nothrow) || !is_below(node, options_.bases) || !queue_kind_of(node)) {
    event.refusal = "no node of a lock below the base";
    record(event);
    co_return plain_text(403, std::string{event.refusal});
  }
  const auto [error, found] = co_await client_.async_get_data(node, use_tuple);
  LockParticipant one;
  one.session_id = error ? 0 : found.stat.ephemeral_owner;
  if (error || std::to_string(found.stat.czxid) != czxid || !has_session(one)) {
    event.refusal = "the node is gone, or another one";
    record(event);
    co_return plain_text(409, std::string{event.refusal});
  }
  const auto [failed] = co_await async_attempt_revoke(client_, node, use_tuple);
  event.error = failed;
  record(event);
  if (failed) co_return plain_text(502, failed.message());
  feed_.read_again(node);
  co_return no_content();
}

void Pages::record(const RevokeEvent& event) const {
  if (options_.audit) options_.audit->on_revoke(event);
}

}  // namespace zklock::tools
