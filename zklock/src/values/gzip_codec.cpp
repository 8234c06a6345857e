#include <zklock/codec.hpp>
#include <zklock/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>

#define ZLIB_CONST
#include <zlib.h>

namespace zklock {
namespace {

constexpr int gzip = 16 + MAX_WBITS;  // tells zlib to use gzip's header and trailer instead of its own

[[noreturn]] void refuse(const std::string& why) {
  throw boost::system::system_error(Error::invalid_data, "gzip: " + why);
}

/// A zlib stream that reads `input`, with one chunk of output at a time.
class Stream {
 public:
  using Ending = int (*)(z_stream*);

  Stream(std::string_view input, Ending end) : rest_{input}, end_{end} {}
  ~Stream() { end_(&stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] z_stream* get() noexcept { return &stream_; }
  /// Whether zlib has been given all input. In pieces, since zlib counts in 32 bits.
  [[nodiscard]] bool is_last() const noexcept { return rest_.empty(); }
  [[nodiscard]] std::size_t remaining() const noexcept { return stream_.avail_in + rest_.size(); }
  /// Why the stream cannot go on. It always has space for output: without a message from zlib, input is missing.
  [[nodiscard]] std::string reason() const { return stream_.msg != nullptr ? stream_.msg : "cut short"; }

  void feed() noexcept {
    if (stream_.avail_in == 0) {
      const auto part = rest_.substr(0, 1u << 30);
      stream_.next_in = reinterpret_cast<const Bytef*>(part.data());
      stream_.avail_in = static_cast<uInt>(part.size());
      rest_.remove_prefix(part.size());
    }
    stream_.next_out = reinterpret_cast<Bytef*>(chunk_.data());
    stream_.avail_out = static_cast<uInt>(chunk_.size());
  }
  [[nodiscard]] std::string_view output() const noexcept { return {chunk_.data(), chunk_.size() - stream_.avail_out}; }

 private:
  z_stream stream_{};
  std::string_view rest_;
  Ending end_;
  std::array<char, 16'384> chunk_{};
};

void check(int result) {
  if (result == Z_MEM_ERROR) throw std::bad_alloc{};
  if (result < 0 && result != Z_DATA_ERROR && result != Z_BUF_ERROR) throw std::logic_error{"zlib was misused"};
}

/// Decodes the member at the stream's position and appends the result. Returns false, and appends nothing, if no member
/// begins there.
bool decode_member(Stream& stream, std::size_t limit, std::string& data) {
  gz_header header{};
  check(inflateGetHeader(stream.get(), &header));
  for (;;) {
    stream.feed();
    const int result = inflate(stream.get(), Z_NO_FLUSH);
    check(result);
    if (stream.output().size() > limit - data.size())
      refuse("decodes to more than " + std::to_string(limit) + " bytes");
    data += stream.output();
    if (result == Z_STREAM_END) return true;
    if (result == Z_OK) continue;
    if (header.done != 1) return false;
    refuse(stream.reason());
  }
}

}  // namespace

std::string GzipCodec::encode(std::string_view data) const {
  Stream stream{data, deflateEnd};
  check(deflateInit2(stream.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip, 8, Z_DEFAULT_STRATEGY));
  std::string encoded;
  for (int result = Z_OK; result != Z_STREAM_END;) {
    stream.feed();
    result = deflate(stream.get(), stream.is_last() ? Z_FINISH : Z_NO_FLUSH);
    check(result);
    encoded += stream.output();
  }
  return encoded;
}

std::string GzipCodec::decode(std::string_view encoded) const {
  constexpr std::size_t header_and_trailer = 10 + 8;
  Stream stream{encoded, inflateEnd};
  check(inflateInit2(stream.get(), gzip));
  std::string data;
  if (!decode_member(stream, limit_, data)) refuse(stream.reason());
  // Like java.util.zip.GZIPInputStream.readTrailer of OpenJDK 17. Later ones (JDK-7036144) look for another member also in
  // fewer bytes, and refuse everything if it is cut short.
  while (stream.remaining() > header_and_trailer) {
    check(inflateReset(stream.get()));
    if (!decode_member(stream, limit_, data)) break;
  }
  return data;
}

}  // namespace zklock
