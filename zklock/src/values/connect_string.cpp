#include <zklock/connect_string.hpp>
#include <zklock/path.hpp>

#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <charconv>

namespace zklock {
namespace {

constexpr std::size_t max_servers = 64;
constexpr std::string_view host_characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

[[noreturn]] void refuse(std::string_view element, std::string_view reason) {
  throw boost::system::system_error(Error::invalid_connect_string,
                                    zklock::quoted(element) + ": " + std::string(reason));
}

bool consists_of(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

/// Strict, because the C client reads "0x885" and "010" with strtol, and its resolver reads them again, with another
/// result.
std::uint16_t parse_port(std::string_view text, std::string_view element) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc{} || stop != end || port == 0 || text.front() == '0') {
    refuse(element, "a port is a decimal number from 1 to 65535, without leading zeros");
  }
  return port;
}

void check_ipv6(const std::string& host, std::string_view element) {
  const auto percent = host.find('%');
  if (percent != std::string::npos) {
    const auto scope = std::string_view(host).substr(percent + 1);
    if (scope.empty() || !consists_of(scope, host_characters)) refuse(element, "an invalid IPv6 scope after '%'");
  }
  error_code ec;
  boost::asio::ip::make_address_v6(host, ec);
  if (ec) refuse(element, "what stands in brackets is not an IPv6 address");
}

void check_host(const std::string& host, std::string_view element) {
  if (host.empty()) refuse(element, "no host before the port");
  if (!consists_of(host, host_characters)) {
    refuse(element, "a host name has only the characters A-Z, a-z, 0-9, '.', '_' and '-'");
  }
  if (!consists_of(host, "0123456789.")) return;
  // Resolvers read "2181" as 0.0.8.133 and "127.1" as 127.0.0.1.
  error_code ec;
  boost::asio::ip::make_address_v4(host, ec);
  if (ec) refuse(element, "a number is not a host; an IPv4 address has four parts from 0 to 255");
}

HostPort parse_bracketed(std::string_view element) {
  const auto close = element.find(']');
  if (close == std::string_view::npos) refuse(element, "a '[' without its ']'");
  HostPort server{.host = std::string(element.substr(1, close - 1))};
  check_ipv6(server.host, element);
  const auto rest = element.substr(close + 1);
  if (rest.empty()) return server;
  if (rest.front() != ':') refuse(element, "only a ':' and a port may follow the ']'");
  server.port = parse_port(rest.substr(1), element);
  return server;
}

HostPort parse_server(std::string_view element) {
  if (element.find('@') != std::string_view::npos) refuse(element, "user information has no place here");
  if (element.front() == '[') return parse_bracketed(element);
  if (std::count(element.begin(), element.end(), ':') > 1) refuse(element, "an IPv6 address stands in brackets");
  const auto colon = element.find(':');
  HostPort server{.host = std::string(element.substr(0, colon))};
  check_host(server.host, element);
  if (colon != std::string_view::npos) server.port = parse_port(element.substr(colon + 1), element);
  return server;
}

/// Whether a host and a port are the first things there.
bool begins_with_server(std::string_view text) {
  text = text.substr(0, text.find_first_of(",/"));
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return false;
  const auto host = text.substr(0, colon);
  const bool is_host =
      host.starts_with('[') ? host.ends_with(']') : !host.empty() && consists_of(host, host_characters);
  return is_host && consists_of(text.substr(colon + 1), "0123456789");
}

std::string parse_chroot(std::string_view chroot) {
  if (chroot.size() <= 1) return {};
  for (auto comma = chroot.find(','); comma != std::string_view::npos; comma = chroot.find(',', comma + 1))
    if (begins_with_server(chroot.substr(comma + 1))) refuse(chroot, "a chroot stands once, after the last server");
  if (const Flaw flaw = validate_path(chroot, std::nothrow)) {
    refuse(chroot, "byte " + std::to_string(flaw.offset) + " of the chroot: " + std::string(flaw.reason));
  }
  return std::string(chroot);
}

}  // namespace

ConnectString parse_connect_string(std::string_view text) {
  if (text.empty()) refuse(text, "nothing there");
  if (text.find('\0') != std::string_view::npos) refuse(text, "a NUL");
  if (text.find_first_of(" \t\n\v\f\r") != std::string_view::npos) refuse(text, "white space");

  const auto slash = std::min(text.find('/'), text.size());
  const auto servers = text.substr(0, slash);
  if (servers.empty()) refuse(text, "a chroot without a server before it");

  ConnectString result;
  for (std::size_t begin = 0; begin <= servers.size();) {
    const auto element = servers.substr(begin, servers.find(',', begin) - begin);
    if (element.empty()) refuse(text, "an empty element; is there a comma too many?");
    if (result.servers.size() == max_servers) refuse(text, "more than 64 servers");
    result.servers.push_back(parse_server(element));
    begin += element.size() + 1;
  }
  result.chroot = parse_chroot(text.substr(slash));
  return result;
}

}  // namespace zklock
