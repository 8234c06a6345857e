// The worker processes, as their parent sees them.
#pragma once

#include "shop.hpp"

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace shop {

/// From a worker to its parent, over a pipe that all of them share: short enough to be written in one piece.
struct News {
  enum class Kind : int { ready, in_mid_sale, refused };
  Kind kind = Kind::ready;
  int worker = 0;
  Token token = 0;
};

/// The descriptors that a worker finds open.
inline constexpr int starting_gate = 3;  ///< at its end when the sale begins
inline constexpr int news_desk = 4;      ///< takes News

/// Starts the workers: this program again, with other arguments. They die with their parent; the destructor kills those
/// that are left.
class Crew {
 public:
  explicit Crew(const std::vector<WorkerOptions>& workers);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Lets all of them begin at the same moment.
  void open_gate();
  /// The next News, if it comes within `wait`.
  [[nodiscard]] std::optional<News> next_news(std::chrono::milliseconds wait);
  /// SIGKILL.
  void kill(int worker);
  /// How many still run. Throws when one has ended otherwise than with success, unless we have killed it.
  [[nodiscard]] int running();

 private:
  struct Member {
    int number = 0;
    pid_t pid = 0;  ///< 0: reaped
    bool killed = false;
  };

  std::vector<Member> members_;
  int gate_ = -1;
  int news_ = -1;
};

}  // namespace shop
