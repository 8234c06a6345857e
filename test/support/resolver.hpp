// A name service under the test's control.
#pragma once

#include <string>
#include <vector>

namespace zklock::test {

/// While an object lives, the system's resolver asks it about names that end in ".test". The system answers about other
/// names.
/// Threads: any.
class FakeNames {
 public:
  FakeNames();
  ~FakeNames();
  FakeNames(const FakeNames&) = delete;

  /// Gives the name these IPv4 addresses. A name that was never set is unknown.
  void set(const std::string& name, std::vector<std::string> addresses);
  /// The name is unknown from now on.
  void fail(const std::string& name);
  /// A look-up of the name waits for its answer until the name is released or this object is destroyed.
  void hold(const std::string& name);
  void release(const std::string& name);
  [[nodiscard]] int look_ups(const std::string& name) const;
};

}  // namespace zklock::test
