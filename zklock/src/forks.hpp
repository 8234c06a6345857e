// Processes that are forked from this one.
#pragma once

namespace zklock {

/// How many forks lie between the first process and this one. Counted rather than asked of the system, which would cost
/// a call with each operation. Threads: any.
[[nodiscard]] unsigned forks() noexcept;

}  // namespace zklock
