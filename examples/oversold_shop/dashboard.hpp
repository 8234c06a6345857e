// `zklock dashboard`, in a process of its own.
#pragma once

#include <string>

#include <sys/types.h>

namespace shop {

/// It ends with this object, or with this process.
class Dashboard {
 public:
  Dashboard(const std::string& program, const std::string& connect, const std::string& base);
  ~Dashboard();
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  /// Where the page is.
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  pid_t pid_ = 0;
  std::string address_;
};

}  // namespace shop
