// One run: eight workers sell all of the stock, and the books are checked.
#pragma once

#include "shop.hpp"

#include <optional>
#include <string>

namespace shop {

struct Plan {
  int number = 1;
  int runs = 0;  ///< in all; 0: until it is interrupted
  std::string title{};
  int stock = 0;
  std::string directory{};  ///< for the stock file and the ledger
  std::string connect{};    ///< empty: without a lock
  bool kill_a_holder = false;
};

struct Outcome {
  int sold = 0;  ///< according to the ledger
  int stock = 0;
  double seconds = 0;
  int refused = 0;
  int killed = 0;
  std::optional<std::chrono::milliseconds> handoff{};  ///< from the SIGKILL to the next sale

  [[nodiscard]] int oversold() const { return sold - stock; }
};

/// Throws std::runtime_error if the run did not show what it has to show.
[[nodiscard]] Outcome perform(const Plan& plan);

}  // namespace shop
