// The page, as CMake embeds it.
#pragma once

#include <string_view>

namespace zklock::tools {

/// The HTML file.
extern const std::string_view page_html;
/// Its Content-Security-Policy, which names the hashes of its script and its style.
extern const std::string_view page_policy;

}  // namespace zklock::tools
