#include "folded_path.hpp"

#include <zklock/metrics/metrics.hpp>

#include <algorithm>
#include <utility>

namespace zklock::metrics {

std::string label_of(std::string_view path) { return web::folded(path); }

Labeller label_below(std::vector<std::string> bases) {
  return [bases = std::move(bases)](std::string_view path) {
    const std::string_view parent = path.substr(0, path.rfind('/'));
    const bool is_below = std::ranges::find(bases, parent) != bases.end();
    return is_below ? std::string{parent} + "/*" : label_of(path);
  };
}

}  // namespace zklock::metrics
