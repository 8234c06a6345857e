#include "tree_options.hpp"

#include "common_options.hpp"
#include "help.hpp"

namespace zklock::tools {

CLI::App* add_tree(CLI::App& app, TreeOptions& options) {
  auto* tree = app.add_subcommand("tree", help::tree_about);
  tree->footer(help::tree_footer);
  tree->add_option("PATH", options.path, "The node, such as /config")->required();
  tree->add_flag("--json", options.json, "As a JSON array");
  add_where(*tree, options.where);
  return tree;
}

CLI::App* add_watch(CLI::App& app, WatchOptions& options) {
  auto* watch = app.add_subcommand("watch", help::watch_about);
  watch->footer(help::watch_footer);
  watch->add_option("PATH", options.path, "The node, such as /config")->required();
  watch->add_flag("--recursive", options.recursive, "All below PATH, not only its children");
  watch->add_flag("--json", options.json, "As lines of JSON");
  add_where(*watch, options.where);
  return watch;
}

}  // namespace zklock::tools
