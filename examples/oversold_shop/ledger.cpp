#include "ledger.hpp"

#include "system_failure.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

namespace shop {
namespace {

constexpr int line_length = 20 + 1 + 2 + 1 + 20 + 1;

}  // namespace

Ledger::Ledger(const std::string& path)
    : path_{path}, descriptor_{::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)} {
  if (descriptor_ < 0) fail(path);
}

Ledger::~Ledger() { ::close(descriptor_); }

// O_APPEND and a single write: lines of several processes never mix.
void Ledger::append(const Sale& sale) {
  std::array<char, 64> line{};
  const auto time = std::chrono::nanoseconds{sale.when.time_since_epoch()}.count();
  const int length = std::snprintf(line.data(), line.size(), "%20lld %2d %20lld\n", static_cast<long long>(time),
                                   sale.worker, static_cast<long long>(sale.token));
  if (::write(descriptor_, line.data(), static_cast<std::size_t>(length)) != line_length) fail("write the ledger");
}

int Ledger::count() const { return static_cast<int>(std::filesystem::file_size(path_) / line_length); }

std::vector<Sale> Ledger::read() const {
  std::vector<Sale> sales;
  std::ifstream file{path_};
  std::int64_t time = 0;
  for (Sale sale; file >> time >> sale.worker >> sale.token;) {
    sale.when = Clock::time_point{std::chrono::nanoseconds{time}};
    sales.push_back(sale);
  }
  if (!file.eof()) throw std::runtime_error{"the ledger is damaged"};
  return sales;
}

}  // namespace shop
