#include "special.hpp"
#include "usage.hpp"
#include "window.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <boost/asio/use_future.hpp>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>

#include <unistd.h>

namespace zklock::bench {
namespace {

double resident() {
  std::size_t size = 0;
  std::size_t pages = 0;
  std::ifstream{"/proc/self/statm"} >> size >> pages;
  return static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::int32_t in_queue(const Client& client, const std::string& path) {
  return client.async_exists(path, boost::asio::use_future).get().value().num_children;
}

}  // namespace

void crowd(const Task& task) {
  Client client{
      {.connect_string = task.servers, .session_timeout = std::chrono::milliseconds{task.session_timeout_ms}}};
  const InterProcessMutex mutex{client, task.lock_path(0)};
  const Lease first = mutex.async_acquire(boost::asio::use_future).get();
  const double allocated_before = allocated();
  const double resident_before = resident();
  const auto began = Clock::now();
  for (std::size_t i = 0; i < task.waiters; ++i) mutex.async_acquire([](error_code, const Lease&) {});
  const auto everybody = static_cast<std::int32_t>(task.waiters) + 1;
  while (in_queue(client, task.lock_path(0)) < everybody) {
    if (Clock::now() - began > std::chrono::minutes{3}) throw std::runtime_error{"they do not get into the line"};
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  const std::chrono::duration<double> lasted = Clock::now() - began;
  const auto each = static_cast<double>(task.waiters);
  std::cout << R"({"waiting_bytes": )" << (allocated() - allocated_before) / each << R"(, "resident_bytes": )"
            << (resident() - resident_before) / each << R"(, "queued_per_s": )" << each / lasted.count() << "}"
            << std::endl;
  client.abort();
  std::_Exit(0);  // only the waiting is measured, not its end
}

}  // namespace zklock::bench
