#include "support/catch.hpp"

#include <zklock/codec.hpp>
#include <zklock/error.hpp>

#include <boost/system/system_error.hpp>

#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace std::string_literals;
using namespace zklock;

namespace {

/// A header of RFC 1952, which begins with "\x1f\x8b": no flags, no time, no extra flags, an unknown system.
const std::string header = "\x1f\x8b\x08\0\0\0\0\0\0\xff"s;
/// Curator's empty data: an empty block, a checksum of 0, a length of 0.
const std::string empty_member = header + "\x03\0"s + std::string(8, '\0');
/// "abc", stored without compression; checksum 0x352441c2.
const std::string abc_block = "\x01\x03\0\xfc\xff"s + "abc";
const std::string abc_trailer = "\xc2\x41\x24\x35\x03\0\0\0"s;
const std::string abc_member = header + abc_block + abc_trailer;

std::string with_flags(char flags, const std::string& fields) {
  std::string member = abc_member;
  member[3] = flags;
  return member.insert(header.size(), fields);
}

/// The reason that decoding throws, or an empty string.
std::string refusal_of(const std::string& encoded, const Codec& codec = GzipCodec{}) {
  try {
    (void)codec.decode(encoded);
  } catch (const boost::system::system_error& error) {
    if (error.code() != Error::invalid_data) FAIL("another error: " << error.what());
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("data encoded as gzip are decoded unchanged") {
  const GzipCodec codec;
  std::mt19937_64 random{8};
  const auto bytes = [&](std::size_t size) {
    std::string text(size, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    return text;
  };
  std::vector<std::string> rows{"", "a", "\0"s, "/app/config", empty_member, std::string(10'000'000, 'x')};
  for (const std::size_t size : {1U, 100U, 16'383U, 16'384U, 16'385U, 65'536U, 1'000'000U}) rows.push_back(bytes(size));
  for (const std::string& data : rows) {
    CAPTURE(data.size());
    const std::string encoded = codec.encode(data);
    CHECK(encoded.starts_with("\x1f\x8b"));
    CHECK(encoded != data);
    const bool same = codec.decode(encoded) == data;  // not printed
    CHECK(same);
    CHECK(encoded == codec.encode(data));
  }
  CHECK(codec.encode("").size() == empty_member.size());
  CHECK(codec.encode(std::string(1'000'000, 'x')).size() < 2'000);
}

TEST_CASE("gzip that other programs may write is decoded") {
  struct Row {
    const char* name;
    std::string encoded;
    std::string data;
  };
  const Row rows[] = {
      {"Curator's empty data", empty_member, ""},
      {"stored", abc_member, "abc"},
      {"a name", with_flags(8, "file.txt\0"s), "abc"},
      {"a comment", with_flags(16, "words\0"s), "abc"},
      {"an extra field", with_flags(4, "\x04\0....."s.substr(0, 6)), "abc"},
      {"all of them", with_flags(4 + 8 + 16, "\0\0n\0c\0"s), "abc"},
      {"said to be text", with_flags(1, ""), "abc"},
      {"two members", abc_member + abc_member, "abcabc"},
      {"an empty member first", empty_member + abc_member, "abc"},
      {"an empty member last", abc_member + empty_member, "abc"},
      {"many members", abc_member + empty_member + abc_member + abc_member, "abcabcabc"},
      {"one byte behind", abc_member + "x", "abc"},
      {"zeros behind", abc_member + std::string(1000, '\0'), "abc"},
      {"text behind", abc_member + std::string(1000, 'x'), "abc"},
      {"a magic number and no more behind", abc_member + "\x1f\x8b", "abc"},
      {"a header's beginning behind", abc_member + "\x1f\x8b\x08\x04\0\0\0\0\0\xff\xff\xff"s + "too short for this",
       "abc"},
      {"another method behind", abc_member + "\x1f\x8b\x07"s + std::string(30, '\0'), "abc"},
      {"too little for a member behind", abc_member + header + "\x03\0......"s, "abc"},
      {"text behind two", abc_member + abc_member + std::string(1000, 'x'), "abcabc"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(GzipCodec{}.decode(row.encoded) == row.data);
  }
}

TEST_CASE("data that are not gzip, or are damaged, are refused with a reason") {
  std::string bad_checksum = abc_member;
  bad_checksum[header.size() + abc_block.size()] ^= 1;
  std::string bad_length = abc_member;
  bad_length.back() = 1;
  struct Row {
    const char* name;
    std::string encoded;
    std::string reason;
  };
  const Row rows[] = {
      {"nothing", "", "cut short"},
      {"one byte", "\x1f", "cut short"},
      {"text", "hello, world", "header"},
      {"JSON", R"({"name":"a","port":1})", "header"},
      {"zeros", std::string(100, '\0'), "header"},
      {"zlib's own format", "\x78\x9c\x03\0\0\0\0\1"s, "header"},
      {"another method", "\x1f\x8b\x07"s + abc_member.substr(3), "method"},
      {"reserved flags", with_flags(static_cast<char>(0x80), ""), "flags"},
      {"a header alone", header, "cut short"},
      {"a header cut short", header.substr(0, 9), "cut short"},
      {"a name without an end", header.substr(0, 3) + "\x08" + header.substr(4) + "name", "cut short"},
      {"a wrong header checksum", with_flags(2, "\x12\x34"), "header crc"},
      {"a block of no known type", header + "\x07" + abc_block.substr(1) + abc_trailer, "block type"},
      {"a stored block whose lengths differ", header + "\x01\x03\0\xfc\xfe"s + "abc" + abc_trailer, "stored block"},
      {"a wrong checksum", bad_checksum, "data check"},
      {"a wrong length", bad_length, "length check"},
      {"no trailer", header + abc_block, "cut short"},
      {"a trailer cut short", abc_member.substr(0, abc_member.size() - 1), "cut short"},
      {"a second member that is damaged", abc_member + bad_checksum, "data check"},
      {"a second member cut short", abc_member + header + "\x01\xff\xff\0\0"s + std::string(100, 'x'), "cut short"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const std::string refusal = refusal_of(row.encoded);
    CHECK_THAT(refusal, Catch::Matchers::StartsWith("gzip: "));
    CHECK_THAT(refusal, Catch::Matchers::ContainsSubstring(row.reason));
  }
}

TEST_CASE("gzip with any one bit flipped is decoded to the same data or refused") {
  const std::string data = "the quick brown fox jumps over the lazy dog, the quick brown fox";
  const std::string encoded = GzipCodec{}.encode(data);
  for (std::size_t size = 0; size < encoded.size(); ++size) CHECK_FALSE(refusal_of(encoded.substr(0, size)).empty());
  for (std::size_t bit = 0; bit < 8 * encoded.size(); ++bit) {
    std::string turned = encoded;
    turned[bit / 8] = static_cast<char>(turned[bit / 8] ^ 1 << bit % 8);
    CAPTURE(bit);
    if (refusal_of(turned).empty()) CHECK(GzipCodec{}.decode(turned) == data);
  }
}

TEST_CASE("decoded data has a limit") {
  const std::string million = GzipCodec{}.encode(std::string(1'000'000, '\0'));
  CHECK(million.size() < 2'000);
  CHECK(GzipCodec{1'000'000}.decode(million).size() == 1'000'000);
  CHECK_THAT(refusal_of(million, GzipCodec{999'999}),
             Catch::Matchers::ContainsSubstring("decodes to more than 999999 bytes"));
  CHECK_THAT(refusal_of(million + million, GzipCodec{1'999'999}),
             Catch::Matchers::ContainsSubstring("more than 1999999 bytes"));
  CHECK_THAT(refusal_of(million, GzipCodec{0}), Catch::Matchers::ContainsSubstring("more than 0 bytes"));
  CHECK(GzipCodec{0}.decode(empty_member).empty());
  CHECK(GzipCodec{3}.decode(abc_member) == "abc");
  CHECK_THAT(refusal_of(abc_member, GzipCodec{2}), Catch::Matchers::ContainsSubstring("more than 2 bytes"));

  const std::string bomb = GzipCodec{}.encode(std::string(GzipCodec::default_limit + 1, '\0'));
  CHECK(bomb.size() < 100'000);
  CHECK_FALSE(refusal_of(bomb).empty());
}
