// A number that processes share in one node.
#pragma once

#include <zklock/recipes/shared/shared_value.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace zklock {

namespace detail {

/// Four bytes, big-endian. A node without data has the seed: Kazoo creates it so.
struct CountCodec {
  using Value = std::int32_t;
  static std::string encode(const Value& value);
  static std::optional<Value> decode(const std::string& data, const Value& seed);
};

}  // namespace detail

/// A number of 32 bits: Curator's SharedCount. Also the number of permits that semaphores share.
using SharedCount = BasicSharedValue<detail::CountCodec>;

}  // namespace zklock
