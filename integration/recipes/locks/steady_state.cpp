// The program that steady_state_test.sh traces: twenty uncontended locks between two marks on standard error.
#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/testing/test_server.hpp>

#include <unistd.h>

int main() {
  using namespace std::chrono_literals;
  // Else the server deletes the directory between locks; and it is slow to start, since it is traced, too.
  zklock::testing::TestServer server{{.container_check = 1h, .start_timeout = 150s}};
  zklock::Client client{{.connect_string = server.connect_string(), .session_timeout = 10s}};
  zklock::InterProcessMutex mutex{client, "/locks/steady"};
  const auto cycle = [&] {
    mutex.acquire();
    mutex.release();
  };
  for (int i = 0; i < 4; ++i) cycle();  // makes the directory, and watches it
  if (::write(STDERR_FILENO, "BEGIN\n", 6) != 6) return 1;
  for (int i = 0; i < 20; ++i) cycle();
  return ::write(STDERR_FILENO, "END\n", 4) == 4 ? 0 : 1;
}
