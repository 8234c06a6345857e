// Leaders, counts, caches, nodes and groups, measured: one program of this process each.
// bench/peers/CuratorRecipes.java takes the same words and orders.
#include "orders.hpp"

#include <iostream>
#include <stdexcept>

int main(int argc, char** argv) {
  using namespace zklock::bench;
  static const std::map<std::string, void (*)(const Task&)> programs{{"candidates", candidates},
                                                                     {"lead", lead},
                                                                     {"counters", counters},
                                                                     {"count-listener", count_listener},
                                                                     {"caches", caches},
                                                                     {"tree", tree},
                                                                     {"member", member},
                                                                     {"comer", comer},
                                                                     {"kept-node", kept_node},
                                                                     {"atomics", atomics},
                                                                     {"double-barriers", double_barriers}};
  try {
    const auto program = programs.find(argc < 2 ? "" : argv[1]);
    if (program == programs.end()) throw std::invalid_argument{"usage: zklock_bench_recipes PROGRAM KEY=VALUE..."};
    program->second(parse_task({argv + 2, argv + argc}));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "zklock_bench_recipes: " << error.what() << "\n";
    return 1;
  }
}
