// What is refused before it is sent: the C client aborts, corrupts its stream or loses the connection over some of it.
#pragma once

#include "driver.hpp"

#include <cstddef>

namespace zklock {

/// The size of the request's frame on the wire, without the four bytes of its own length.
[[nodiscard]] std::size_t frame_size(const Request& request) noexcept;

/// Whether a server would refuse the request's path. That of a sequential node may end in '/': digits follow.
[[nodiscard]] bool has_path_flaw(const Request& request) noexcept;

/// The first thing wrong with the request, if anything is. A larger frame than `max_buffer` (jute.maxbuffer) would cost
/// the connection, and every other request with it (docs/faults.md 83).
[[nodiscard]] error_code find_fault(const Request& request, std::size_t max_buffer) noexcept;

/// Of one part of a multi, on its own.
[[nodiscard]] error_code find_fault_in_part(const Request& part) noexcept;

}  // namespace zklock
