// Refuses requests before they are sent: some make the C client abort, corrupt its stream or lose the connection.
#pragma once

#include "driver.hpp"

#include <cstddef>

namespace zklock {

/// The size of the request's frame on the wire, without the four bytes of its own length.
[[nodiscard]] std::size_t frame_size(const Request& request) noexcept;

/// Whether a server would refuse the request's path. The path of a sequential node may end in '/': digits follow.
[[nodiscard]] bool has_path_flaw(const Request& request) noexcept;

/// The first flaw of the request, or none. A frame larger than `max_buffer` (jute.maxbuffer) would cost the connection,
/// and every other request with it [F83].
[[nodiscard]] error_code validate_request(const Request& request, std::size_t max_buffer) noexcept;

/// The first flaw of one part of a multi.
[[nodiscard]] error_code validate_part(const Request& part) noexcept;

}  // namespace zklock
