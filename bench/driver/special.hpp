// What is measured once a process.
#pragma once

#include "task.hpp"

namespace zklock::bench {

/// After a line of input acquires the lock, says "held", and holds it until its input ends or it is killed.
void hold(const Task& task);
/// Lets as many acquires as there are waiters stand in line behind one that holds the lock, and says in a line of JSON
/// how much memory that took.
void crowd(const Task& task);

}  // namespace zklock::bench
