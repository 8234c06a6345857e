#include "count.hpp"

#include "connection.hpp"

#include <zklock/recipes/counters/distributed_atomic.hpp>

#include <iostream>

namespace zklock::tools {

int count(const CountOptions& options) {
  const Connection connection{options.where};
  const std::int64_t value = connection.with_client([&](const Client& client) {
    const DistributedAtomicLong counter{client, options.path};
    return options.add ? counter.add(*options.add).after : counter.get();
  });
  std::cout << value << '\n' << std::flush;
  return std::cout ? 0 : status::unavailable;
}

}  // namespace zklock::tools
