#include <zklock/recipe_kit/random.hpp>

#include <random>

namespace zklock {

namespace {

std::mt19937_64& engine() {
  thread_local std::mt19937_64 own = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64{seed};
  }();
  return own;
}

}  // namespace

std::uint64_t random_bits() { return engine()(); }
void seed_random_bits(std::uint64_t seed) { engine().seed(seed); }

}  // namespace zklock
