#include "bounds.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace zklock::bench {

Bounds::Bounds(const std::string& file) {
  std::ifstream lines{file};
  if (!lines) throw std::runtime_error{"cannot read " + file};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line.substr(0, line.find('#'))};
    std::string workload;
    std::string metric;
    double bound = 0;
    if (!(words >> workload)) continue;
    if (!(words >> metric >> bound)) throw std::runtime_error{file + ": what is '" + line + "'?"};
    bounds_[{workload, metric}] = bound;
  }
  std::printf("%-16s %-20s %12s %12s\n", "a lock", "costs", "measured", "bound");
}

void Bounds::judge(const std::string& workload, const std::string& metric, double measured) {
  const auto bound = bounds_.find({workload, metric});
  if (bound == bounds_.end()) {
    std::printf("%-16s %-20s %12.2f %12s\n", workload.c_str(), metric.c_str(), measured, "-");
    return;
  }
  const bool kept = measured <= bound->second;
  all_kept_ = all_kept_ && kept;
  std::printf("%-16s %-20s %12.2f %12.2f%s\n", workload.c_str(), metric.c_str(), measured, bound->second,
              kept ? "" : "  ABOVE ITS BOUND");
}

}  // namespace zklock::bench
