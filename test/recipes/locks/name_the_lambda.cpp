// Does not compile with g++ 12, which would destroy the lambda twice.
#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/with_lease.hpp>

#include <chrono>
#include <string>

namespace asio = boost::asio;

asio::awaitable<int> sell(const zklock::InterProcessMutex& mutex, std::string sku, int stock) {
  co_return co_await zklock::with_lease(
      mutex, std::chrono::seconds{5},
      [sku, stock](zklock::Lease&) -> asio::awaitable<int> { co_return stock - static_cast<int>(sku.size()); });
}
