#include "special.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <iostream>
#include <stdexcept>

namespace zklock::bench {

void hold(const Task& task) {
  Client client{
      {.connect_string = task.servers, .session_timeout = std::chrono::milliseconds{task.session_timeout_ms}}};
  InterProcessMutex mutex{client, task.lock_path(0)};
  if (!client.wait_connected(std::chrono::seconds{20})) throw std::runtime_error{"no connection"};
  std::cout << "ready" << std::endl;
  std::string line;
  if (!std::getline(std::cin, line)) return;
  mutex.acquire();
  std::cout << "held" << std::endl;
  while (std::getline(std::cin, line)) continue;
  mutex.release();
}

}  // namespace zklock::bench
