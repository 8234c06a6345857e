// Functions that the fuzz targets share.
#pragma once

#include <zklock/error.hpp>

#include <boost/system/system_error.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::fuzz {

/// Ends the process, which libFuzzer reports as a finding, unless `condition` holds.
inline void check(bool condition, const char* promise) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", promise);
  std::abort();
}

/// Whether `function` returns. It may throw `error` and nothing else.
template <class Function>
[[nodiscard]] bool succeeds(Function&& function, error_code error) {
  try {
    function();
    return true;
  } catch (const boost::system::system_error& thrown) {
    check(thrown.code() == error, "a refusal has the error that it is documented to have");
    const std::string_view text = thrown.what();
    for (const char byte : text) check(static_cast<unsigned char>(byte) >= ' ' && byte != 0x7f, "a reason is one line");
    return false;
  }
}

/// `text`, split at each `separator`.
[[nodiscard]] inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::string_view part = text.substr(begin, text.find(separator, begin) - begin);
    parts.emplace_back(part);
    begin += part.size() + 1;
  }
  return parts;
}

}  // namespace zklock::fuzz

/// Each target defines this.
void fuzz_one(std::string_view input);

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  fuzz_one({reinterpret_cast<const char*>(data), size});
  return 0;
}
