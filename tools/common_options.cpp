#include "common_options.hpp"

#include "duration.hpp"

#include <stdexcept>
#include <utility>

namespace zklock::tools {

using std::chrono::milliseconds;

void add_duration(CLI::App& app, const std::string& name, std::function<void(milliseconds)> set,
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

}  // namespace zklock::tools
