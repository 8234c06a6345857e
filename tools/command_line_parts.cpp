#include "command_line_parts.hpp"

#include "duration.hpp"
#include "help.hpp"

#include <stdexcept>
#include <utility>

namespace zklock::tools {

void add_duration(CLI::App& app, const std::string& name, std::function<void(std::chrono::milliseconds)> set,
                  const std::string& help) {
  const auto parse = [name, set = std::move(set)](const std::string& text) {
    try {
      set(parse_duration(text));
    } catch (const std::invalid_argument& error) {
      throw CLI::ValidationError{name, error.what()};
    }
  };
  app.add_option_function<std::string>(name, parse, help)->type_name("DURATION");
}

void add_where(CLI::App& app, Where& where) {
  app.add_option("-c,--connect", where.connect,
                 "The ZooKeeper servers, \"zk1:2181,zk2:2181/app\"; else $ZKLOCK_CONNECT")
      ->type_name("STRING");
  app.add_option("--auth", where.auth,
                 "Credentials for the servers, \"digest:alice:secret\"; several: say it again. "
                 "Others of the machine see them: put them into $ZKLOCK_AUTH, or a file")
      ->type_name("SCHEME:ID")
      ->allow_extra_args(false);
  app.add_option("--auth-file", where.auth_file, "A file with credentials, SCHEME:ID, a line each")->type_name("FILE");
  app.add_flag("-v,--verbose", where.verbose, "Log to stderr what happens on the way");
}

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
