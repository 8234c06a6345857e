// The standard descriptors of the program.
#pragma once

namespace zklock::tools {

/// Opens /dev/null for those of 0, 1 and 2 that the program was started without. Otherwise the next files and sockets
/// that it opens would get these numbers, and what is printed would go there.
void open_standard_files() noexcept;

}  // namespace zklock::tools
