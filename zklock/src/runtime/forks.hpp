// Detects forked processes.
#pragma once

namespace zklock {

/// The number of forks between the first process and this one. It is counted, since asking the system would cost a call
/// with each operation. Threads: any.
[[nodiscard]] unsigned forks() noexcept;

}  // namespace zklock
