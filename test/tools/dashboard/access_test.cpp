// Who may ask the dashboard for what.
#include "dashboard/access.hpp"

#include "failure.hpp"
#include "support/catch.hpp"
#include "support/temporary_directory.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

using namespace zklock::tools;

namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

WebRequest get(const std::string& path, Headers headers) { return {"GET", path, std::move(headers), ""}; }
WebRequest post(const std::string& path, Headers headers) {
  headers.insert(headers.begin(), {"host", "localhost:8080"});
  return {"POST", path, std::move(headers), "{}"};
}

/// 0: accepted.
unsigned status_of(const AccessRules& rules, const WebRequest& request) {
  const auto refused = refuse(rules, request);
  return refused ? refused->status : 0;
}

const AccessRules open_rules{"127.0.0.1", 8080, {"locks.example"}, "", ""};
const AccessRules token_rules{"10.0.0.5", 8080, {}, "0123456789abcdef", "fedcba9876543210"};
const Headers json_post{{"content-type", "application/json"}, {"x-zklock", "1"}};

Headers with(Headers headers, const std::string& name, const std::string& value) {
  std::erase_if(headers, [&](const auto& one) { return one.first == name; });
  headers.emplace_back(name, value);
  return headers;
}

}  // namespace

TEST_CASE("the host is checked first, on every path but those of probes") {
  const auto [host, accepted] = GENERATE(table<std::string, bool>({
      {"localhost", true},
      {"localhost:8080", true},
      {"LocalHost:1", true},
      {"127.0.0.1:8080", true},
      {"[::1]:8080", true},
      {"[::1]", true},
      {"locks.example", true},
      {"Locks.Example:443", true},
      {"evil.example", false},
      {"evil.example:8080", false},
      {"localhost.evil.example", false},
      {"127.0.0.1.evil.example", false},
      {"localhost@evil.example", false},
      {"localhost:8080@evil.example", false},
      {"10.0.0.5", false},
      {"[::1", false},
      {"", false},
  }));
  INFO(host);
  for (const char* path : {"/", "/api/stream", "/api/session", "/metrics", "/nothing"})
    CHECK(status_of(open_rules, get(path, {{"host", host}})) == (accepted ? 0 : 403));
  CHECK(status_of(token_rules, get("/", {{"host", "10.0.0.5:8080"}})) == 0);
}

TEST_CASE("probes are answered without a token, for any host, and by GET only") {
  for (const AccessRules& rules : {open_rules, token_rules})
    for (const char* path : {"/livez", "/readyz", "/healthz"}) {
      CHECK(status_of(rules, get(path, {{"host", "10.1.2.3:8080"}})) == 0);
      CHECK(status_of(rules, get(path, {})) == 0);
      CHECK(status_of(rules, post(path, {})) == 403);
    }
}

TEST_CASE("two hosts, or none, are refused") {
  CHECK(status_of(open_rules, get("/", {{"host", "localhost"}, {"host", "localhost"}})) == 403);
  CHECK(status_of(open_rules, get("/", {})) == 403);
}

TEST_CASE("a host of IPv6 is known by its literal in brackets") {
  const AccessRules six{"fd00::5", 8080, {}, "", ""};
  CHECK(status_of(six, get("/", {{"host", "[fd00::5]:8080"}})) == 0);
  CHECK(status_of(six, get("/", {{"host", "fd00::5"}})) == 403);
}

TEST_CASE("there are GET and POST only") {
  for (const char* method : {"PUT", "DELETE", "OPTIONS", "TRACE", "BREW"}) {
    const WebRequest request{method, "/", {{"host", "localhost"}}, ""};
    CHECK(status_of(open_rules, request) == 405);
  }
}

TEST_CASE("a POST must be one that only the dashboard's own page can make") {
  struct Case {
    const char* title;
    Headers headers;
    unsigned status;
  };
  const auto [title, headers, status] = GENERATE(values<Case>({
      {"as the page makes it", json_post, 0},
      {"with a character set", with(json_post, "content-type", "application/json; charset=utf-8"), 0},
      {"with all of its headers",
       with(with(json_post, "sec-fetch-site", "same-origin"), "origin", "http://localhost:8080"), 0},
      {"behind a proxy with TLS", with(json_post, "origin", "https://localhost:8080"), 0},
      {"a form", with(json_post, "content-type", "application/x-www-form-urlencoded"), 403},
      {"text, which needs no preflight", with(json_post, "content-type", "text/plain"), 403},
      {"without the page's own header", {{"content-type", "application/json"}}, 403},
      {"of another site", with(json_post, "sec-fetch-site", "cross-site"), 403},
      {"of another port", with(json_post, "sec-fetch-site", "same-site"), 403},
      {"typed by a user", with(json_post, "sec-fetch-site", "none"), 403},
      {"of another origin", with(json_post, "origin", "http://evil.example"), 403},
      {"of another port's origin", with(json_post, "origin", "http://localhost:9999"), 403},
      {"of no origin", with(json_post, "origin", "null"), 403},
  }));
  INFO(title);
  for (const char* path : {"/api/session", "/api/view", "/api/revoke", "/"})
    CHECK(status_of(open_rules, post(path, headers)) == status);
}

TEST_CASE("what other sites ask for by GET is refused, but for the page itself") {
  for (const char* site : {"cross-site", "same-site"}) {
    CHECK(status_of(open_rules, get("/api/stream", {{"host", "localhost"}, {"sec-fetch-site", site}})) == 403);
    CHECK(status_of(open_rules, get("/", {{"host", "localhost"}, {"sec-fetch-site", site}})) == 0);
  }
  CHECK(status_of(open_rules, get("/metrics", {{"host", "localhost"}, {"sec-fetch-site", "none"}})) == 0);
}

TEST_CASE("with a token everything but the page needs it, as a cookie or a header") {
  const auto status = [](const std::string& path, const std::string& name, const std::string& value) {
    return status_of(token_rules, get(path, {{"host", "localhost"}, {name, value}}));
  };
  for (const char* path : {"/api/stream", "/api/session", "/metrics"}) {
    CHECK(status(path, "accept", "*/*") == 401);
    CHECK(status(path, "authorization", "Bearer 0123456789abcdef") == 0);
    CHECK(status(path, "authorization", "bearer 0123456789abcdef") == 0);
    CHECK(status(path, "authorization", "BEARER 0123456789abcdef") == 0);
    CHECK(status(path, "authorization", "Bearer 0123456789abcdeg") == 401);
    CHECK(status(path, "authorization", "Bearer fedcba9876543210") == 401);
    CHECK(status(path, "authorization", "Basic 0123456789abcdef") == 401);
    CHECK(status(path, "cookie", "other=1; zklock-8080=fedcba9876543210") == 0);
    CHECK(status(path, "cookie", "zklock-8080=fedcba9876543210") == 0);
    CHECK(status(path, "cookie", "zklock-8080=0123456789abcdef") == 401);
    CHECK(status(path, "cookie", "zklock-8081=fedcba9876543210") == 401);
    CHECK(status(path, "cookie", "zklock-8080=") == 401);
  }
  CHECK(status("/", "accept", "*/*") == 0);
  CHECK(status_of(token_rules, post("/api/session", json_post)) == 0);
  CHECK(status_of(token_rules, post("/api/view", json_post)) == 401);
  CHECK(status_of(token_rules, post("/api/revoke", json_post)) == 401);
}

TEST_CASE("the cookie has no token, is for this page's requests only, and named by the port") {
  CHECK(make_cookie(token_rules) == "zklock-8080=fedcba9876543210; HttpOnly; SameSite=Strict; Path=/");
}

TEST_CASE("secrets are the same or not, and an empty one never is") {
  CHECK(is_same_secret("abc", "abc"));
  CHECK_FALSE(is_same_secret("abd", "abc"));
  CHECK_FALSE(is_same_secret("abcabc", "abc"));
  CHECK_FALSE(is_same_secret("ab", "abc"));
  CHECK_FALSE(is_same_secret("", "abc"));
  CHECK_FALSE(is_same_secret("", ""));
}

TEST_CASE("a token that is made is long, and another one each time") {
  CHECK(make_token().size() == 64);
  CHECK(make_token() != make_token());
}

TEST_CASE("a token file's first line is the token, if it is long enough and plain") {
  const zklock::test::TemporaryDirectory directory;
  const std::string file = directory.file("token");
  const auto read = [&](const std::string& text) {
    std::ofstream{file} << text;
    return read_token(file);
  };
  CHECK(read("0123456789abcdef\nmore") == "0123456789abcdef");
  CHECK(read("0123456789abcdef\r\n") == "0123456789abcdef");
  CHECK_THROWS_AS(read("short"), Failure);
  CHECK_THROWS_AS(read("0123456789abcdef; Path=/"), Failure);
  CHECK_THROWS_AS(read(""), Failure);
  std::filesystem::remove(file);
  CHECK_THROWS_AS(read_token(file), Failure);
}

TEST_CASE("only loopback addresses are this machine's own") {
  for (const char* host : {"localhost", "127.0.0.1", "127.1.2.3", "::1"}) CHECK(is_loopback(host));
  for (const char* host : {"0.0.0.0", "::", "10.0.0.5", "example"}) CHECK_FALSE(is_loopback(host));
}
