// "zk1:2181,[::1]:2182/app": the servers' addresses and the node below which a client works.
#pragma once

#include <zklock/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {

struct HostPort {
  std::string host;  ///< a name, an IPv4 address, or an IPv6 address without its brackets; as written
  std::uint16_t port = 2181;

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

/// A parsed connect string.
struct ConnectString {
  std::vector<HostPort> servers;
  std::string chroot;  ///< "/app", or empty

  friend bool operator==(const ConnectString&, const ConnectString&) = default;
};

/// Parses "host[:port][,host[:port]...][/chroot]". The port is 2181 when left out (as in Java; the C client requires
/// it). An IPv6 address is in brackets. A chroot of "/" alone means none.
///
/// Throws boost::system::system_error with Error::invalid_connect_string, which names the element and the reason: an
/// empty string, an empty element, a port that is not a decimal number from 1 to 65535 without leading zeros, white
/// space or a NUL anywhere, user information, an IPv6 address without brackets, a host name with characters other than
/// letters, digits, '.', '-' and '_', a number that is no IPv4 address (resolvers read "2181" as 0.0.8.133), more than
/// 64 servers, an invalid chroot.
[[nodiscard]] ConnectString parse_connect_string(std::string_view text);

}  // namespace zklock
