// Admits one call into the C client at a time, in the whole process.
#pragma once

namespace zklock {

/// Held during a call, and during a fork, so that a child process does not find it held by a thread that the child does
/// not have. No code of the caller runs inside a call, so no fork happens there.
///
/// Threads: any; does not nest.
class LibraryLock {
 public:
  LibraryLock();
  ~LibraryLock();
  LibraryLock(const LibraryLock&) = delete;
  LibraryLock& operator=(const LibraryLock&) = delete;
};

}  // namespace zklock
