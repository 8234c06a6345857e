// What hears the client in the measurements of its cost.
#pragma once

#include <zklock/client.hpp>
#include <zklock/observer.hpp>

#include <memory>
#include <string>
#include <vector>

namespace zklock::bench {

enum class Heard { by_nobody, by_a_counter, by_an_audit_log, by_metrics };

/// The observers of a client. The audit log writes to a file that has no name any more.
[[nodiscard]] std::vector<std::shared_ptr<Observer>> make_observers(Heard heard);

}  // namespace zklock::bench
