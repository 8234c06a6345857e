#include "growth.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include <malloc.h>
#include <unistd.h>

namespace zklock::test {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::int64_t entries_of(const char* directory) {
  return std::distance(std::filesystem::directory_iterator{directory}, std::filesystem::directory_iterator{});
}

}  // namespace

double Series::slope_per_second() const {
  if (values.size() < 2) return 0;
  const double middle = mean(seconds), level = mean(values);
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    products += (seconds[i] - middle) * (values[i] - level);
    squares += (seconds[i] - middle) * (seconds[i] - middle);
  }
  return squares > 0 ? products / squares : 0;
}

double Series::growth() const { return seconds.empty() ? 0 : slope_per_second() * (seconds.back() - seconds.front()); }

bool Series::has_grown() const {
  if (bound < 0 || values.empty()) return false;
  return bound > 0 ? growth() > bound : values.back() > values.front();
}

std::string to_table(const std::vector<Series>& all) {
  char line[160];
  const char* head = "%-20s %10s %10s %10s %10s %12s %12s %10s\n";
  std::snprintf(line, sizeof line, head, "", "start", "end", "least", "most", "growth", "growth/hour", "bound");
  std::string table = line;
  for (const Series& each : all) {
    if (each.values.empty()) continue;
    const auto [least, most] = std::minmax_element(each.values.begin(), each.values.end());
    const std::string name = each.unit.empty() ? each.name : each.name + " (" + each.unit + ")";
    std::snprintf(line, sizeof line, "%-20s %10.0f %10.0f %10.0f %10.0f %12.2f %12.2f ", name.c_str(),
                  each.values.front(), each.values.back(), *least, *most, each.growth(),
                  each.slope_per_second() * 3'600);
    table += line;
    std::snprintf(line, sizeof line, "%10.0f  %s\n", each.bound, each.has_grown() ? "HAS GROWN" : "ok");
    table += each.bound < 0 ? "         -  shown only\n" : line;
  }
  return table;
}

std::int64_t resident_bytes() {
  std::ifstream file{"/proc/self/statm"};
  std::int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

std::int64_t allocated_bytes() {
  ::malloc_trim(0);
  const struct mallinfo2 info = ::mallinfo2();  // of all arenas, in spite of its manual
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

std::int64_t open_descriptors() { return entries_of("/proc/self/fd"); }
std::int64_t running_threads() { return entries_of("/proc/self/task"); }

}  // namespace zklock::test
