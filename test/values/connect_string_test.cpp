#include "support/catch.hpp"

#include <zklock/connect_string.hpp>

#include <boost/system/system_error.hpp>

#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace std::string_literals;
using zklock::ConnectString;
using zklock::Error;
using zklock::HostPort;
using zklock::parse_connect_string;

namespace {

/// The reason that parsing throws, or an empty string.
std::string refusal_of(std::string_view text) {
  try {
    (void)parse_connect_string(text);
  } catch (const boost::system::system_error& error) {
    if (error.code() != Error::invalid_connect_string) FAIL("another error: " << error.what());
    return error.what();
  }
  return {};
}

std::string repeated(std::string_view element, int times) {
  std::string text(element);
  for (int i = 1; i < times; ++i) text.append(",").append(element);
  return text;
}

std::string format(const ConnectString& connect) {
  std::string text;
  for (const auto& [host, port] : connect.servers) {
    const bool ipv6 = host.find(':') != std::string::npos;
    text += (text.empty() ? "" : ",") + (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
  }
  return text + connect.chroot;
}

}  // namespace

TEST_CASE("a good connect string is taken apart") {
  struct Row {
    const char* name;
    std::string text;
    ConnectString expected;
  };
  const Row rows[] = {
      {"one server", "zk1:2182", {{{"zk1", 2182}}, ""}},
      {"no port", "zk1", {{{"zk1", 2181}}, ""}},
      {"several", "zk1:1,zk2,zk3:65535", {{{"zk1", 1}, {"zk2", 2181}, {"zk3", 65535}}, ""}},
      {"chroot", "zk1:2181/app", {{{"zk1", 2181}}, "/app"}},
      {"chroot after no port", "zk1/app/prod", {{{"zk1", 2181}}, "/app/prod"}},
      {"chroot with a comma, a colon and an @", "zk1/a,b:c@d", {{{"zk1", 2181}}, "/a,b:c@d"}},
      {"chroot of / alone", "zk1:2181/", {{{"zk1", 2181}}, ""}},
      {"chroot with a comma and digits", "zk1/a,12:x,:1,b:", {{{"zk1", 2181}}, "/a,12:x,:1,b:"}},
      {"chroot in UTF-8", "zk1/K\xC3\xA4se", {{{"zk1", 2181}}, "/K\xC3\xA4se"}},
      {"IPv4", "127.0.0.1:2181", {{{"127.0.0.1", 2181}}, ""}},
      {"IPv6", "[::1]:2182", {{{"::1", 2182}}, ""}},
      {"IPv6, no port", "[2001:db8::7]", {{{"2001:db8::7", 2181}}, ""}},
      {"IPv6 and chroot", "[::1]/app", {{{"::1", 2181}}, "/app"}},
      {"IPv4 in IPv6", "[::ffff:192.0.2.1]:1", {{{"::ffff:192.0.2.1", 1}}, ""}},
      {"IPv6 with a scope", "[fe80::1%eth0]:2181", {{{"fe80::1%eth0", 2181}}, ""}},
      {"mixed", "a,[::1]:2,10.0.0.1:3/x", {{{"a", 2181}, {"::1", 2}, {"10.0.0.1", 3}}, "/x"}},
      {"full name, as it was written", "ZK-1.example_x.COM.:2181", {{{"ZK-1.example_x.COM.", 2181}}, ""}},
      {"name that starts with digits", "1zk", {{{"1zk", 2181}}, ""}},
      {"the same server twice", "a:1,a:1", {{{"a", 1}, {"a", 1}}, ""}},
      {"64 servers", repeated("h:1", 64), {std::vector<HostPort>(64, HostPort{"h", 1}), ""}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(parse_connect_string(row.text) == row.expected);
  }
}

TEST_CASE("a bad connect string is refused, with the element and the reason") {
  struct Row {
    const char* name;
    std::string text;
    std::string element;  ///< quoted in the message
    std::string reason;   ///< a part of the message
  };
  const char* const port = "a port is a decimal number";
  const Row rows[] = {
      {"empty", "", R"("")", "nothing there"},
      {"only a chroot", "/a", R"("/a")", "without a server"},
      {"only a slash", "/", R"("/")", "without a server"},
      {"only a comma", ",", R"(",")", "empty element"},
      {"two commas", "a,,b", R"("a,,b")", "empty element"},
      {"comma at the front", ",a", R"(",a")", "empty element"},
      {"comma at the end", "a,", R"("a,")", "empty element"},
      {"comma before the chroot", "a,/app", R"("a,/app")", "empty element"},
      {"port without digits", "a:", R"("a:")", port},
      {"port 0", "a:1,b:0", R"("b:0")", port},
      {"port 65536", "a:65536", R"("a:65536")", port},
      {"port far too large", "a:99999999999999999999", R"("a:99999999999999999999")", port},
      {"port -1", "a:-1", R"("a:-1")", port},
      {"port +1", "a:+1", R"("a:+1")", port},
      {"hexadecimal port", "a:0x885", R"("a:0x885")", port},
      {"octal port", "a:010", R"("a:010")", port},
      {"leading zero", "a:02181", R"("a:02181")", port},
      {"port with a tail", "a:2181x", R"("a:2181x")", port},
      {"port name", "a:zookeeper", R"("a:zookeeper")", port},
      {"no host", ":2181", R"(":2181")", "no host"},
      {"no host in the middle", "a,:2181", R"(":2181")", "no host"},
      {"space after the comma", "a:1, b:2", R"("a:1, b:2")", "white space"},
      {"space at the front", " a", R"(" a")", "white space"},
      {"space in the chroot", "a/b c", R"("a/b c")", "white space"},
      {"newline at the end", "a:1\n", R"("a:1\x0a")", "white space"},
      {"NUL", "a:1\0,b:2"s, R"("a:1\x00,b:2")", "NUL"},
      {"NUL in the chroot", "a/b\0"s, R"("a/b\x00")", "NUL"},
      {"user information", "me:secret@a:1", R"("me:secret@a:1")", "user information"},
      {"user alone", "me@a", R"("me@a")", "user information"},
      {"scheme", "zk://a:1", R"("zk:")", port},
      {"other separator", "a:1;b:2", R"("a:1;b:2")", "brackets"},
      {"host with an odd character", "a!b", R"("a!b")", "a host name has only"},
      {"host outside ASCII", "K\xC3\xA4se", "\"K\xC3\xA4se\"", "a host name has only"},
      {"host with a control character", "a\x01", R"("a\x01")", "a host name has only"},
      {"port alone", "2181", R"("2181")", "a number is not a host"},
      {"short IPv4", "127.1:2181", R"("127.1:2181")", "a number is not a host"},
      {"IPv4 out of range", "256.0.0.1", R"("256.0.0.1")", "a number is not a host"},
      {"IPv4 in octal", "010.0.0.1", R"("010.0.0.1")", "a number is not a host"},
      {"five parts", "1.2.3.4.5", R"("1.2.3.4.5")", "a number is not a host"},
      {"dots", "..", R"("..")", "a number is not a host"},
      {"IPv6 without brackets", "::1", R"("::1")", "brackets"},
      {"IPv6 and port without brackets", "2001:db8::7:2181", R"("2001:db8::7:2181")", "brackets"},
      {"open bracket", "[::1", R"("[::1")", "without its ']'"},
      {"open bracket, another element", "[::1,a", R"("[::1")", "without its ']'"},
      {"close bracket", "a]", R"("a]")", "a host name has only"},
      {"close bracket after IPv6", "::1]:2181", R"("::1]:2181")", "brackets"},
      {"garbage after the bracket", "[::1]x", R"("[::1]x")", "may follow"},
      {"port without colon", "[::1]2181", R"("[::1]2181")", "may follow"},
      {"two brackets", "[[::1]]", R"("[[::1]]")", "not an IPv6 address"},
      {"bracket, no digits", "[::1]:", R"("[::1]:")", port},
      {"nothing in brackets", "[]:1", R"("[]:1")", "not an IPv6 address"},
      {"IPv4 in brackets", "[127.0.0.1]", R"("[127.0.0.1]")", "not an IPv6 address"},
      {"name in brackets", "[zk1]:1", R"("[zk1]:1")", "not an IPv6 address"},
      {"too many groups", "[1:2:3:4:5:6:7:8:9]", R"("[1:2:3:4:5:6:7:8:9]")", "not an IPv6 address"},
      {"empty scope", "[fe80::1%]", R"("[fe80::1%]")", "scope"},
      {"odd scope", "[fe80::1%25eth0%]", R"("[fe80::1%25eth0%]")", "scope"},
      {"65 servers", repeated("h:1", 65), R"("h:1,h:1,)", "more than 64"},
      {"a chroot after each server", "h1:1/a,h2:2/a", R"("/a,h2:2/a")", "once, after the last server"},
      {"a chroot after the first server", "h1/a,b,10.0.0.1:2181", R"("/a,b,10.0.0.1:2181")", "once, after the last"},
      {"a chroot before an IPv6 address", "h1/a,[::1]:2181", R"("/a,[::1]:2181")", "once, after the last"},
      {"trailing slash", "a/app/", R"("/app/")", "byte 4 of the chroot"},
      {"two slashes", "a//", R"("//")", "byte 1 of the chroot"},
      {"dots in the chroot", "a/../b", R"("/../b")", "byte 1 of the chroot"},
      {"control in the chroot", "a/b\x01", R"("/b\x01")", "a control character"},
      {"invalid UTF-8 in the chroot", "a/\xFF", R"("/\xff")", "invalid UTF-8"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto refusal = refusal_of(row.text);
    CHECK_THAT(refusal, Catch::Matchers::StartsWith(row.element));
    CHECK_THAT(refusal, Catch::Matchers::ContainsSubstring(row.reason));
    CHECK_THAT(refusal, Catch::Matchers::ContainsSubstring("invalid connect string"));
  }
}

TEST_CASE("a connect string that was parsed and written again is parsed as the same") {
  std::mt19937 random{42};
  const std::vector<std::string> hosts{"zk1", "a.b.example", "10.1.2.3", "::1", "2001:db8::1", "x_y-z"};
  for (int round = 0; round < 1000; ++round) {
    ConnectString connect;
    for (auto count = 1 + random() % 7; count > 0; --count) {
      connect.servers.push_back({hosts[random() % hosts.size()], static_cast<std::uint16_t>(1 + random() % 65535)});
    }
    if (random() % 2) connect.chroot = "/app" + std::to_string(random() % 10);
    REQUIRE(parse_connect_string(format(connect)) == connect);
  }
}

TEST_CASE("random bytes are parsed or refused, never anything else") {
  std::mt19937 random{1};
  const std::string tricky = ",:/[]@%.0129af-_ \0\xFF"s;
  int parsed = 0;
  for (int round = 0; round < 100'000; ++round) {
    std::string text(random() % 16, '\0');
    for (char& byte : text) {
      byte = random() % 8 ? tricky[random() % tricky.size()] : static_cast<char>(random() % 256);
    }
    if (!refusal_of(text).empty()) continue;
    ++parsed;
    const auto connect = parse_connect_string(text);
    if (parse_connect_string(format(connect)) != connect) FAIL_CHECK("parsed differently: " << text);
  }
  CHECK(parsed > 100);
}
