// Connect strings come from configuration files and command lines.
#include "check.hpp"

#include <zklock/connect_string.hpp>
#include <zklock/path.hpp>

using namespace zklock;
using fuzz::check;

namespace {

std::string format(const ConnectString& connect) {
  std::string text;
  for (const HostPort& server : connect.servers) {
    const bool ipv6 = server.host.find(':') != std::string::npos;
    text +=
        (text.empty() ? "" : ",") + (ipv6 ? "[" + server.host + "]" : server.host) + ":" + std::to_string(server.port);
  }
  return text + connect.chroot;
}

}  // namespace

void fuzz_one(std::string_view input) {
  ConnectString connect;
  if (!fuzz::succeeds([&] { connect = parse_connect_string(input); }, Error::invalid_connect_string)) return;
  check(!connect.servers.empty() && connect.servers.size() <= 64, "there are 1 to 64 servers");
  for (const HostPort& server : connect.servers) {
    check(server.port != 0, "a port is not 0");
    check(!server.host.empty() && input.find(server.host) != std::string_view::npos, "a host is as it was written");
    check(server.host.find_first_of("[]/@,") == std::string::npos, "a host has nothing of what is around it");
  }
  check(connect.chroot.empty() || (!validate_path(connect.chroot, std::nothrow) && connect.chroot != "/"),
        "a chroot is a path");
  check(input.ends_with(connect.chroot), "the chroot is what comes last");
  check(parse_connect_string(format(connect)) == connect, "what is written again is parsed as the same");
}
