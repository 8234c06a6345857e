// Compressed node data: a client that may write the node may write anything.
#include "check.hpp"

#include <zklock/codec.hpp>

#include <optional>

using namespace zklock;
using fuzz::check;

namespace {

constexpr std::size_t limit = 100'000;

std::optional<std::string> decode(const std::string& encoded) {
  std::optional<std::string> data;
  if (!fuzz::succeeds([&] { data = GzipCodec{limit}.decode(encoded); }, Error::invalid_data)) return std::nullopt;
  check(data->size() <= limit, "the limit holds");
  return data;
}

/// A header and then `text`, whose bytes may be a deflated stream, so that inflating begins.
std::string with_header(std::string_view text) { return std::string{"\x1f\x8b\x08\0\0\0\0\0\0\xff", 10}.append(text); }

}  // namespace

void fuzz_one(std::string_view input) {
  const GzipCodec codec{limit};
  const std::string text{input};
  if (const auto data = decode(text)) check(decode(codec.encode(*data)) == data, "what was decoded is encoded again");
  static_cast<void>(decode(with_header(input)));

  const std::string encoded = codec.encode(input);
  if (input.size() > limit) return;
  check(decode(encoded) == text, "what was encoded is decoded the same");
  check(decode(encoded + codec.encode("more")) == text + "more", "members are read one after another");
  if (!input.starts_with('\x1f')) check(decode(encoded + text) == text, "other bytes behind are passed over");
  check(!decode(encoded.substr(0, encoded.size() - 1)), "what is cut short is refused");
}
