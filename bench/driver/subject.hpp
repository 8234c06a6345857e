// One way to lock, which is measured.
#pragma once

#include "task.hpp"
#include "window.hpp"

#include <memory>
#include <string>

namespace zklock::bench {

/// Threads: one at a time.
class Subject {
 public:
  virtual ~Subject() = default;

  /// Lets the workers of the task loop until the window closes.
  virtual void start(Window& window) = 0;
  /// Returns when each worker has ended its last cycle.
  virtual void join() = 0;
  [[nodiscard]] virtual std::vector<Tallies*> tallies() = 0;
};

/// Null: there is no subject of that name, or it was not compiled in.
std::unique_ptr<Subject> make_zklock(const std::string& name, const Task& task);
std::unique_ptr<Subject> make_raw(const std::string& name, const Task& task);
std::unique_ptr<Subject> make_blocking(const std::string& name, const Task& task);

}  // namespace zklock::bench
