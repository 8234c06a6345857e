// A worker process: sells until nothing is left.
#pragma once

#include "shop.hpp"

namespace shop {

void work(const WorkerOptions& options);

}  // namespace shop
