// Small helpers between the C client's types and zklock's.
#pragma once

#include "c_client_driver.hpp"
#include "library_lock.hpp"

#include <zookeeper/zookeeper.h>

#include <optional>
#include <string_view>

namespace zklock {

/// Records which driver is calling the library on this thread: the callbacks find their driver by it. One call at a
/// time in the whole process, since the library keeps a request counter and a text buffer in static variables
/// (docs/driver.md 4.9). The exception is a close on its own thread: it may take seconds, and can at worst skip a
/// number. Calls do not nest.
///
/// The library's log lines are written after the call, so that a slow sink does not make other clients wait.
class CClientDriver::CallScope {
 public:
  explicit CallScope(CClientDriver* driver) : driver_{driver} {
    lock_.emplace();
    current_ = driver;
  }
  ~CallScope() {
    current_ = nullptr;
    lock_.reset();
    if (driver_) driver_->write_log();
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  CClientDriver* driver_;
  std::optional<LibraryLock> lock_;
};

/// The library's callbacks: each copies the reply, finds the request by its id, and queues. No user code runs inside.
struct CClientDriver::Callbacks {
  static void on_session(zhandle_t*, int type, int state, const char* path, void* context) noexcept;
  static void on_watch(zhandle_t*, int type, int state, const char* path, void* context) noexcept;
  static void on_create(int rc, const char* path, const ::Stat* stat, const void* id) noexcept;
  static void on_stat(int rc, const ::Stat* stat, const void* id) noexcept;
  static void on_data(int rc, const char* data, int length, const ::Stat* stat, const void* id) noexcept;
  static void on_children(int rc, const ::String_vector* names, const ::Stat* stat, const void* id) noexcept;
  static void on_acl(int rc, ::ACL_vector* acl, ::Stat* stat, const void* id) noexcept;
  static void on_multi(int rc, const void* id) noexcept;
  static void on_void(int rc, const void* id) noexcept;
  static void on_sync(int rc, const char* path, const void* id) noexcept;
  static void log(const char* line) noexcept;
  static void answer(const void* id, Reply reply);
};

/// The library's context argument: a number, never a pointer.
inline void* to_context(std::uint64_t id) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(id));  // NOLINT(performance-no-int-to-ptr)
}
inline std::uint64_t to_id(const void* context) noexcept { return reinterpret_cast<std::uintptr_t>(context); }

/// A log line of the library without its origin: time, process, level, function and line of the library's source.
[[nodiscard]] inline std::string_view without_origin(std::string_view line) noexcept {
  const auto level = line.find(":ZOO_");
  const auto colon = level == std::string_view::npos ? level : line.find(": ", level + 1);
  return colon == std::string_view::npos ? line : line.substr(colon + 2);
}

/// The server's number as an error_code; 0 is success. The server has no positive numbers: they would read as zklock's
/// own errors.
inline error_code from_rc(int rc) noexcept {
  if (rc == ZOK) return {};
  return rc > 0 ? make_error_code(Error::protocol_error) : make_error_code(static_cast<Error>(rc));
}

}  // namespace zklock
