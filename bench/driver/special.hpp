// The subjects that are measured once a process.
#pragma once

#include "task.hpp"

namespace zklock::bench {

/// After a line of input acquires the lock, prints "held", and holds it until its input ends or it is killed.
void hold(const Task& task);
/// Enqueues as many acquires as there are waiters behind one that holds the lock, and prints in a line of JSON how much
/// memory that took.
void crowd(const Task& task);

}  // namespace zklock::bench
