#include "web.hpp"

#include <algorithm>
#include <cctype>

namespace zklock::web {

std::string_view WebRequest::header(std::string_view name) const noexcept {
  const auto is_it = [&](const auto& header) { return header.first == name; };
  const auto first = std::ranges::find_if(headers, is_it);
  if (first == headers.end() || std::ranges::count_if(headers, is_it) > 1) return {};
  return first->second;
}

bool WebRequest::has(std::string_view name) const noexcept {
  return std::ranges::any_of(headers, [&](const auto& header) { return header.first == name; });
}

WebReply plain_text(unsigned status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::move(text) + "\n"};
}

WebReply json_text(std::string text) { return {200, "application/json", std::move(text)}; }

std::string host_of(std::string_view header) {
  const auto end = header.starts_with('[') ? header.find(']') + 1 : header.find(':');
  const std::string_view port = end < header.size() ? header.substr(end) : std::string_view{};
  if (!port.empty() && (!port.starts_with(':') || port.find_first_not_of("0123456789", 1) != port.npos)) return {};
  std::string host{header.substr(0, end)};
  std::ranges::transform(host, host.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return host;
}

}  // namespace zklock::web
