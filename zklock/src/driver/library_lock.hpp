// One call into the C client at a time, in the whole process.
#pragma once

namespace zklock {

/// Held during a call, and by whoever forks, so that a child process does not find it held by a thread that it has not.
/// Nothing of the caller's runs inside a call, so nobody forks there.
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
