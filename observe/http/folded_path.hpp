// The label by which metrics know a path.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zklock::web {

/// A longer label takes too much room in each of its series.
inline constexpr std::size_t max_label_bytes = 256;

/// The path with `*` for each component that looks like an id: a UUID, six digits or more, 16 hexadecimal digits or
/// more.
[[nodiscard]] std::string folded(std::string_view path);

}  // namespace zklock::web
