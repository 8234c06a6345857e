#include "random.hpp"

#include <random>

namespace zklock {

namespace {

std::mt19937_64 seeded() {
  std::random_device device;
  std::seed_seq seed{device(), device(), device(), device()};
  return std::mt19937_64{seed};
}

}  // namespace

std::uint64_t random_bits() {
  thread_local std::mt19937_64 engine = seeded();
  return engine();
}

}  // namespace zklock
