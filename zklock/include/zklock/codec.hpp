// The form of node data in ZooKeeper: as it is, or compressed.
#pragma once

#include <boost/system/result.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace zklock {

/// Encodes data for a node and decodes it again: decode(encode(data)) == data. Programs may derive their own codecs.
///
/// Threads: any thread may call anything, also concurrently.
class Codec {
 public:
  virtual ~Codec() = default;

  [[nodiscard]] virtual std::string encode(std::string_view data) const = 0;

  /// Throws boost::system::system_error with Error::invalid_data when `encoded` is not this codec's: other clients
  /// write nodes, too.
  [[nodiscard]] virtual std::string decode(std::string_view encoded) const = 0;

 protected:
  Codec() = default;
  Codec(const Codec&) = default;
  Codec& operator=(const Codec&) = default;
};

/// gzip (RFC 1952), as Curator's GzipCompressionProvider writes it: each reads what the other has written.
///
/// Empty data is encoded in 20 bytes. Zero bytes are not valid gzip, neither for Curator nor for zklock: a node that
/// was created without data is refused, not decoded.
///
/// decode also reads two things that Java's GZIPInputStream reads and recent versions of Curator's provider do not:
/// several members one after another; and trailing bytes that do not begin a member, which it ignores.
class GzipCodec final : public Codec {
 public:
  static constexpr std::size_t default_limit = std::size_t{64} * 1024 * 1024;

  /// `limit`, in bytes, bounds the result of decode: a node of 1 MB may hold a thousand times as many zeros.
  explicit GzipCodec(std::size_t limit = default_limit) noexcept : limit_{limit} {}

  [[nodiscard]] std::string encode(std::string_view data) const override;
  [[nodiscard]] std::string decode(std::string_view encoded) const override;

 private:
  std::size_t limit_;
};

namespace detail {

// A program's own codec may throw anything, and bad_alloc comes out of any: invalid_data, unless the exception has an
// error of its own.
[[nodiscard]] boost::system::result<std::string> encoded(const Codec& codec, std::string_view data) noexcept;
/// Refuses also what decodes to more than `limit` bytes.
[[nodiscard]] boost::system::result<std::string> decoded(const Codec& codec, std::string_view data,
                                                         std::size_t limit) noexcept;

}  // namespace detail

}  // namespace zklock
