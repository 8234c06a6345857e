// A name service under the test's control.
#pragma once

#include <string>
#include <vector>

namespace zklock::test {

/// While one lives, the system's resolver asks it about names that end in ".test"; about others it asks the system.
/// Threads: any.
class FakeNames {
 public:
  FakeNames();
  ~FakeNames();
  FakeNames(const FakeNames&) = delete;

  /// The name means these IPv4 addresses. A name that was never set is unknown.
  void set(const std::string& name, std::vector<std::string> addresses);
  /// Nobody answers about the name any more.
  void fail(const std::string& name);
  /// Who asks about the name waits for an answer, until it is released or this goes.
  void hold(const std::string& name);
  void release(const std::string& name);
  [[nodiscard]] int look_ups(const std::string& name) const;
};

}  // namespace zklock::test
