// The worker processes, as seen by their parent.
#pragma once

#include "shop.hpp"

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace shop {

/// A message from a worker to its parent, over a pipe that all of them share: short enough to be written in one piece.
struct Message {
  enum class Kind : int { ready, in_mid_sale, refused };
  Kind kind = Kind::ready;
  int worker = 0;
  Token token = 0;
};

/// The descriptors that are open in a worker.
inline constexpr int starting_gate = 3;  ///< reaches its end when the sale begins
inline constexpr int message_pipe = 4;   ///< takes Message

/// Starts the workers: this program again, with other arguments. They end with their parent; the destructor kills those
/// that are left.
class Crew {
 public:
  explicit Crew(const std::vector<WorkerOptions>& workers);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Lets all of them begin at the same moment.
  void open_gate();
  /// The next Message, if it comes within `wait`.
  [[nodiscard]] std::optional<Message> next_message(std::chrono::milliseconds wait);
  /// Sends SIGKILL.
  void kill(int worker);
  /// How many still run. Throws when a worker has ended without success, unless kill() has killed it.
  [[nodiscard]] int running();

 private:
  struct Member {
    int number = 0;
    pid_t pid = 0;  ///< 0: reaped
    bool killed = false;
  };

  std::vector<Member> members_;
  int gate_ = -1;
  int messages_ = -1;
};

}  // namespace shop
