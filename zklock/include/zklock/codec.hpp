// What node data looks like in ZooKeeper: as it is, or compressed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zklock {

/// Turns data into what is stored in a node, and back: decode(encode(data)) == data. Derive your own.
///
/// Threads: any thread may call anything, at the same time as others.
class Codec {
 public:
  virtual ~Codec() = default;

  [[nodiscard]] virtual std::string encode(std::string_view data) const = 0;

  /// Throws boost::system::system_error with Error::invalid_data when `encoded` is none of this codec's: nodes are
  /// written by others, too.
  [[nodiscard]] virtual std::string decode(std::string_view encoded) const = 0;

 protected:
  Codec() = default;
  Codec(const Codec&) = default;
  Codec& operator=(const Codec&) = default;
};

/// gzip (RFC 1952), as Curator's GzipCompressionProvider writes it: each reads what the other has written.
///
/// Empty data makes 20 bytes. No bytes at all are not gzip, neither here nor there: a node made without data is not
/// decoded, but refused.
///
/// decode also reads what Java's GZIPInputStream reads, and Curator's provider, of late, does not: several members one
/// after another, and, ignored, bytes behind the last one that are no member's beginning.
class GzipCodec final : public Codec {
 public:
  static constexpr std::size_t default_limit = std::size_t{64} * 1024 * 1024;

  /// `limit`, in bytes, is on what decode gives: a node of 1 MB may hold a thousand times as much in zeros.
  explicit GzipCodec(std::size_t limit = default_limit) noexcept : limit_{limit} {}

  [[nodiscard]] std::string encode(std::string_view data) const override;
  [[nodiscard]] std::string decode(std::string_view encoded) const override;

 private:
  std::size_t limit_;
};

}  // namespace zklock
