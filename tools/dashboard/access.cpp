#include "access.hpp"

#include "failure.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>

#include <sys/random.h>

namespace zklock::tools {
namespace {

std::string lower(std::string_view text) {
  std::string result{text};
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool knows_host(const AccessRules& rules, const WebRequest& request) {
  const std::string host = host_of(request.header("host"));
  if (host.empty()) return false;
  const std::string listen = lower(rules.listen_host);
  const bool is_six = listen.find(':') != std::string::npos;
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]" ||
         host == (is_six ? "[" + listen + "]" : listen) ||
         std::ranges::any_of(rules.allowed_hosts, [&](const std::string& one) { return host == lower(one); });
}

/// A probe has neither a token nor a name by which it knows the dashboard, and the replies tell nothing of locks.
bool is_probe(const WebRequest& request) {
  return request.method == "GET" &&
         (request.path == "/livez" || request.path == "/readyz" || request.path == "/healthz");
}

/// A request that a page of another origin has made, which a browser says.
bool is_from_elsewhere(const WebRequest& request) {
  const std::string_view site = request.header("sec-fetch-site");
  return request.has("sec-fetch-site") && site != "same-origin" && site != "none";
}

bool is_own_post(const WebRequest& request) {
  const std::string_view type = request.header("content-type");
  const std::string_view site = request.header("sec-fetch-site");
  const std::string_view origin = request.header("origin");
  const std::string host{request.header("host")};
  return lower(type.substr(0, type.find(';'))) == "application/json" && request.header("x-zklock") == "1" &&
         (!request.has("sec-fetch-site") || site == "same-origin") &&
         (!request.has("origin") || origin == "http://" + host || origin == "https://" + host);
}

std::string cookie_name(const AccessRules& rules) { return "zklock-" + std::to_string(rules.port); }

std::string_view cookie_of(const AccessRules& rules, const WebRequest& request) {
  std::string_view cookies = request.header("cookie");
  const std::string wanted = cookie_name(rules) + "=";
  while (!cookies.empty()) {
    const auto end = cookies.find(';');
    std::string_view one = cookies.substr(0, end);
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.starts_with(wanted)) return one.substr(wanted.size());
    cookies.remove_prefix(end == cookies.npos ? cookies.size() : end + 1);
  }
  return {};
}

bool has_token(const AccessRules& rules, const WebRequest& request) {
  if (rules.token.empty()) return true;
  constexpr std::string_view bearer = "bearer ";
  const std::string_view header = request.header("authorization");
  const bool has_bearer = lower(header.substr(0, bearer.size())) == bearer;
  if (has_bearer && is_same_secret(header.substr(bearer.size()), rules.token)) return true;
  return is_same_secret(cookie_of(rules, request), rules.session);
}

}  // namespace

std::optional<WebReply> refuse(const AccessRules& rules, const WebRequest& request) {
  if (is_probe(request)) return std::nullopt;
  if (!knows_host(rules, request))
    return plain_text(403, "this dashboard does not know that host name: name it by --allowed-host");
  const bool is_post = request.method == "POST";
  if (!is_post && request.method != "GET") {
    WebReply reply = plain_text(405, "GET and POST only");
    reply.headers.emplace_back("Allow", "GET, HEAD, POST");
    return reply;
  }
  if (is_post && !is_own_post(request)) return plain_text(403, "not a request of the dashboard's own page");
  // The page itself has no secrets, and a link to it may stand anywhere.
  if (request.path == "/" && !is_post) return std::nullopt;
  if (is_from_elsewhere(request)) return plain_text(403, "a request of another page");
  const bool logs_in = is_post && request.path == "/api/session";
  if (!logs_in && !has_token(rules, request)) {
    WebReply reply = plain_text(401, "this needs the dashboard's token");
    reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    return reply;
  }
  return std::nullopt;
}

bool is_loopback(std::string_view host) noexcept {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string make_cookie(const AccessRules& rules) {
  return cookie_name(rules) + "=" + rules.session + "; HttpOnly; SameSite=Strict; Path=/";
}

bool is_same_secret(std::string_view one, std::string_view other) noexcept {
  unsigned difference = one.size() == other.size() ? 0 : 1;
  for (std::size_t i = 0; i < other.size(); ++i) {
    const char mine = one.empty() ? '\0' : one[i % one.size()];
    difference |= static_cast<unsigned char>(mine) ^ static_cast<unsigned char>(other[i]);
  }
  return difference == 0 && !other.empty();
}

std::string make_token() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::system_error{errno, std::generic_category(), "getrandom"};
  std::string text;
  std::array<char, 3> digits{};
  for (const unsigned byte : bytes) {
    std::snprintf(digits.data(), digits.size(), "%02x", byte);
    text += digits.data();
  }
  return text;
}

std::string read_token(const std::string& file) {
  std::ifstream input{file};
  std::string token;
  if (!std::getline(input, token)) throw Failure{status::usage, "cannot read a token from --token-file " + file};
  if (token.ends_with('\r')) token.pop_back();
  const bool is_plain =
      std::ranges::all_of(token, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
  if (token.size() < 16 || !is_plain)
    throw Failure{status::usage,
                  "the token in " + file + " needs at least 16 characters, letters, digits, - and _ only"};
  return token;
}

}  // namespace zklock::tools
