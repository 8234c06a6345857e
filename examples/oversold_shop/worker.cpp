#include "worker.hpp"

#include "crew.hpp"
#include "ledger.hpp"
#include "stock_file.hpp"

#include <zklock/client.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <cerrno>
#include <csignal>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <sys/prctl.h>
#include <unistd.h>

namespace shop {
namespace {

void die_with(int parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) throw std::runtime_error{"the parent is gone"};  // before the signal could arrive
}

void send(const Message& message) {
  if (::write(message_pipe, &message, sizeof message) != sizeof message)
    throw std::runtime_error{"the parent does not listen"};
}

void wait_for_gate() {
  char nothing = 0;
  while (::read(starting_gate, &nothing, 1) < 0 && errno == EINTR) continue;
}

/// Run 1: no lock.
struct NoMutex {
  void lock() {}
  void unlock() {}
  [[nodiscard]] Token fencing_token() const { return 0; }
};

/// Holds the lock, has read the stock, and never writes: the parent kills it here.
[[noreturn]] void stop_in_mid_sale(int worker, Token token) {
  send({Message::Kind::in_mid_sale, worker, token});
  for (;;) ::pause();
}

template <class Mutex>
void sell_all(Mutex& mutex, const WorkerOptions& options) {
  StockFile file{options.stock_file};
  Ledger ledger{options.ledger};
  send({Message::Kind::ready, options.number, 0});
  wait_for_gate();
  for (int sale = 1;; ++sale) {
    const std::lock_guard guard{mutex};
    const Token token = mutex.fencing_token();
    const auto shelf = file.read(token);
    if (shelf && shelf->stock == 0) return;
    if (shelf && sale == options.stop_at) stop_in_mid_sale(options.number, token);
    std::this_thread::sleep_for(think_time);
    if (shelf && file.write({shelf->stock - 1, shelf->sold + 1}, token))
      ledger.append({Clock::now(), options.number, token});
    else  // this worker has lost the lock without knowing it; the file knows
      send({Message::Kind::refused, options.number, token});
  }
}

}  // namespace

void work(const WorkerOptions& options) {
  die_with(options.parent);
  if (options.connect.empty()) {
    NoMutex mutex;
    return sell_all(mutex, options);
  }
  const zklock::Client client{{.connect_string = options.connect, .session_timeout = session_timeout}};
  if (!client.wait_connected(15s)) throw std::runtime_error{"no ZooKeeper at " + options.connect};
  zklock::InterProcessMutex mutex{client, options.lock};
  sell_all(mutex, options);
}

}  // namespace shop
