// Who may ask the dashboard for what: pure decisions.
#pragma once

#include "web.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::tools {

using namespace web;

struct AccessRules {
  std::string listen_host{};                 ///< the literal of --listen
  std::uint16_t port = 0;                    ///< names the cookie
  std::vector<std::string> allowed_hosts{};  ///< further names, such as a proxy's
  std::string token{};                       ///< empty: none is needed
  std::string session{};                     ///< what the cookie is: made for this listener alone, never the token
};

/// Refuses what does not come from the dashboard's own page, or from a program that was given the token. The host is
/// checked first, on every path but those of probes: neither a loopback address nor the check of Origin stops DNS
/// rebinding.
[[nodiscard]] std::optional<WebReply> refuse(const AccessRules& rules, const WebRequest& request);

/// Whether the address is reached from this machine only.
[[nodiscard]] bool is_loopback(std::string_view host) noexcept;

/// The cookie that shows that its browser has had the token, as a Set-Cookie header's value.
[[nodiscard]] std::string make_cookie(const AccessRules& rules);

/// Compares in a time that does not depend on where the texts differ.
[[nodiscard]] bool is_same_secret(std::string_view one, std::string_view other) noexcept;

/// 32 random bytes in hexadecimal digits. Throws std::system_error.
[[nodiscard]] std::string make_token();

/// The first line of the file. Throws Failure if it cannot be read or has fewer than 16 characters.
[[nodiscard]] std::string read_token(const std::string& file);

}  // namespace zklock::tools
