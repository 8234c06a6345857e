#include "report.hpp"

#include <cstdio>

namespace shop {

void print_table(const std::vector<std::pair<std::string, Outcome>>& rows) {
  std::printf("\n%-32s %6s %6s %9s %8s %8s %14s %11s\n", "", "sold", "stock", "oversold", "seconds", "sales/s",
              "stale refused", "handoff ms");
  int number = 0;
  for (const auto& [title, outcome] : rows) {
    const auto handoff = outcome.handoff ? std::to_string(outcome.handoff->count()) : "-";
    std::printf("%d %-30s %6d %6d %9d %8.1f %8.0f %14d %11s\n", ++number, title.c_str(), outcome.sold, outcome.stock,
                outcome.oversold(), outcome.seconds, outcome.sold / outcome.seconds, outcome.refused, handoff.c_str());
  }
  std::printf("\n");
}

}  // namespace shop
