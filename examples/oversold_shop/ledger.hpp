// Every sale, one a line, only ever appended to: what was truly sold, whatever the stock file says.
#pragma once

#include "shop.hpp"

#include <string>
#include <vector>

namespace shop {

struct Sale {
  Clock::time_point when{};
  int worker = 0;
  Token token = 0;
};

class Ledger {
 public:
  /// Creates the file if it does not exist.
  explicit Ledger(const std::string& path);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  void append(const Sale& sale);
  [[nodiscard]] int count() const;
  [[nodiscard]] std::vector<Sale> read() const;

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace shop
