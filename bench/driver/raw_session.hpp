// One session on the C client, with nothing around it.
#pragma once

#include <zookeeper/zookeeper.h>

#include <chrono>
#include <string>

namespace zklock::bench {

/// Threads: one.
class RawSession {
 public:
  RawSession(const std::string& servers, std::chrono::milliseconds timeout);
  ~RawSession();
  RawSession(const RawSession&) = delete;
  RawSession& operator=(const RawSession&) = delete;

  [[nodiscard]] zhandle_t* handle() const noexcept { return handle_; }
  /// What poll() has to wait for; `limit` is shortened if the library has something to do before.
  struct Wish {
    int descriptor = -1;
    short events = 0;
  };
  [[nodiscard]] Wish interest(std::chrono::milliseconds& limit);
  /// Passes to the library what poll() has found, until there is nothing more to read.
  void process(short events);
  void create_directory(const std::string& path);

 private:
  void wait_connected();
  zhandle_t* handle_;
};

/// Throws std::runtime_error, unless the code is a success.
void check_raw(int code, const char* what);

}  // namespace zklock::bench
