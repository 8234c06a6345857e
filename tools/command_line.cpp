#include "command_line.hpp"

#include "common_options.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "help.hpp"
#include "run_options.hpp"
#include "top/top.hpp"
#include "tree_options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <span>

namespace zklock::tools {
namespace {

using std::chrono::milliseconds;

/// Adds to the help what CLI11 cannot know: that the command comes after "--".
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(32); }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (app->get_name() == "run") return "Usage: zklock run PATH [OPTIONS] -- COMMAND [ARGUMENT]...\n";
    if (app->get_name() == "lead") return "Usage: zklock lead PATH [OPTIONS] -- COMMAND [ARGUMENT]...\n";
    if (app->get_name() == "leaders") return "Usage: zklock leaders PATH [OPTIONS]\n";
    if (app->get_name() == "ls") return "Usage: zklock ls PATH [OPTIONS]\n";
    if (app->get_name() == "revoke") return "Usage: zklock revoke PATH [OPTIONS]\n";
    if (app->get_name() == "doctor") return "Usage: zklock doctor PATH... [OPTIONS]\n";
    if (app->get_name() == "dashboard") return "Usage: zklock dashboard [OPTIONS]\n";
    if (app->get_name() == "tree") return "Usage: zklock tree PATH [OPTIONS]\n";
    if (app->get_name() == "count") return "Usage: zklock count PATH [OPTIONS]\n";
    if (app->get_name() == "watch") return "Usage: zklock watch PATH [OPTIONS]\n";
    if (app->get_name() == "top") return "Usage: zklock top PATH [OPTIONS]\n";
    return CLI::Formatter::make_usage(app, std::move(name));
  }
};

CLI::App* add_leaders(CLI::App& app, LeadersOptions& options) {
  auto* leaders = app.add_subcommand("leaders", help::leaders_about);
  leaders->footer(help::leaders_footer);
  leaders->add_option("PATH", options.path, "The election, such as /leader/nightly")->required();
  leaders->add_flag("--json", options.json, "As a JSON array");
  add_where(*leaders, options.where);
  return leaders;
}

CLI::App* add_count(CLI::App& app, CountOptions& options) {
  auto* count = app.add_subcommand("count", help::count_about);
  count->footer(help::count_footer);
  count->add_option("PATH", options.path, "The counter, such as /counters/orders")->required();
  count->add_option("--add", options.add, "Add this number, which may be negative, exactly once, and print the sum");
  add_where(*count, options.where);
  return count;
}

CLI::App* add_ls(CLI::App& app, LsOptions& options) {
  auto* ls = app.add_subcommand("ls", help::ls_about);
  ls->footer(help::ls_footer);
  ls->add_option("PATH", options.path, "The lock, such as /locks/nightly; or a node above locks, such as /locks")
      ->required();
  ls->add_flag("--json", options.json, "As a JSON array");
  add_where(*ls, options.where);
  return ls;
}

void add_audit(CLI::App& command, std::string& file) {
  command.add_option("--audit", file, "Append a record of each request to a holder to this file, as JSON")
      ->type_name("FILE");
}

CLI::App* add_revoke(CLI::App& app, RevokeOptions& options) {
  auto* revoke = app.add_subcommand("revoke", help::revoke_about);
  revoke->footer(help::revoke_footer);
  revoke->add_option("PATH", options.path, "The lock, such as /locks/nightly: all who hold it; or one node of it")
      ->required();
  add_duration(
      *revoke, "--wait", [&](milliseconds wait) { options.wait = wait; },
      "Wait until it is given back, for so long at most. Default: only ask");
  add_audit(*revoke, options.audit);
  add_where(*revoke, options.where);
  return revoke;
}

CLI::App* add_doctor(CLI::App& app, DoctorOptions& options) {
  auto* doctor = app.add_subcommand("doctor", help::doctor_about);
  doctor->footer(help::doctor_footer);
  doctor->add_option("PATH", options.paths, "Where to look, there and below, such as /locks")->required();
  add_duration(
      *doctor, "--wait", [&](milliseconds wait) { options.wait = wait; },
      "Between two looks, to see what moves; 0s: say nothing of that. Default: " + format_duration(options.wait));
  add_duration(
      *doctor, "--stuck-after", [&](milliseconds wait) { options.stuck_after = wait; },
      "How long the first waiter may wait before it is a problem that nothing moves. Default: " +
          format_duration(options.stuck_after));
  doctor->add_option("--max-nodes", options.max_nodes, "How many nodes to list before it is enough. Default: 10000")
      ->type_name("NUMBER");
  doctor->add_option("--max-depth", options.max_depth, "How many levels to go down below PATH. Default: 16")
      ->type_name("NUMBER");
  doctor->add_flag("--json", options.json, "As a JSON object");
  add_where(*doctor, options.where);
  return doctor;
}

CLI::App* add_dashboard(CLI::App& app, DashboardOptions& options) {
  auto* dashboard = app.add_subcommand("dashboard", help::dashboard_about);
  dashboard->footer(help::dashboard_footer);
  dashboard->add_option("--base", options.bases, "The node below which the locks are; several: say it again")
      ->type_name("PATH")
      ->allow_extra_args(false)
      ->required();
  dashboard->add_option("--listen", options.listen, "Where to listen. Default: " + options.listen)
      ->type_name("ADDRESS:PORT");
  dashboard
      ->add_option("--allowed-host", options.allowed_hosts,
                   "A further name by which browsers reach it, such as a proxy's; several: say it again")
      ->type_name("NAME")
      ->allow_extra_args(false);
  dashboard
      ->add_option("--scrape", options.scrape,
                   "Where a service shows its metrics: the page plots waiting and holding times; several: say it again")
      ->type_name("URL")
      ->allow_extra_args(false);
  dashboard->add_flag("--allow-revoke", options.allow_revoke, "Let the page ask holders to release their locks");
  add_audit(*dashboard, options.audit);
  dashboard->add_option("--token-file", options.token_file, "A file whose first line is the token that the page needs")
      ->type_name("FILE");
  dashboard
      ->add_option("--reads-per-second", options.reads_per_second,
                   "The most requests a second to ZooKeeper. Default: " + std::to_string(options.reads_per_second))
      ->type_name("NUMBER")
      ->check(CLI::Range(1, 100'000));
  dashboard
      ->add_option("--watches", options.watches,
                   "The most watches at ZooKeeper. Default: " + std::to_string(options.watches))
      ->type_name("NUMBER")
      ->check(CLI::Range(1, 100'000));
  add_where(*dashboard, options.where);
  return dashboard;
}

CLI::App* add_top(CLI::App& app, TopOptions& options) {
  auto* top = app.add_subcommand("top", help::top_about);
  top->footer(help::top_footer);
  top->add_option("PATH", options.path, "The node below which the locks are, such as /locks")->required();
  top->add_flag("--once", options.once, "Once, as a table");
  top->add_flag("--json", options.json, "As lines of JSON, one for each change; with --once: one for each lock");
  add_where(*top, options.where);
  return top;
}

void add_server(CLI::App& app, ServerOptions& options) {
  auto* server = app.add_subcommand("server", help::server_about);
  server->footer(help::server_footer);
  server->add_option("--port", options.port, "Where to listen. Default: any port that is free")
      ->type_name("NUMBER")
      ->check(CLI::Range(1, 65'535));
}

void check_usage(const CLI::App& app, const RunOptions& run, const RunOptions& lead, bool has_command) {
  const bool leads = app.got_subcommand("lead");
  const bool runs = leads || app.got_subcommand("run");
  const Where& where = leads ? lead.where : run.where;
  if (runs && where.dev && !where.connect.empty())
    throw CLI::ValidationError{"--dev brings its own server: leave --connect out"};
  if (runs && !has_command)
    throw CLI::ValidationError{std::string{"no command: write it after '--', as in 'zklock "} +
                               (leads ? "lead" : "run") + " PATH -- sleep 5'"};
  if (!runs && has_command) throw CLI::ValidationError{"only 'zklock run' and 'zklock lead' take a command after '--'"};
}

std::string known_words() {
  return std::string{"run, lead, leaders, ls, revoke, doctor, dashboard, "} + (has_top ? "top, " : "") +
         "tree, watch, count or server";
}

void check_subcommand(const CLI::App& app, std::span<char*> words) {
  if (words.size() < 2) throw CLI::ValidationError{"say what to do: " + known_words()};
  const std::string word = words[1];
  if (!word.starts_with('-') &&
      app.get_subcommands([&](const CLI::App* known) { return known->get_name() == word; }).empty())
    throw CLI::ValidationError{"there is no subcommand '" + word + "': " + known_words()};
}

Done explain(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return {app.exit(error)};
  const auto parsed = app.get_subcommands();
  say(error.what());
  say("'zklock " + (parsed.empty() ? "" : parsed.front()->get_name() + " ") + "--help' explains");
  return {status::usage};
}

}  // namespace

std::variant<Options, Done> parse_command_line(int argc, char** argv) {
  const std::span<char*> words{argv, static_cast<std::size_t>(argc)};
  // The words are split here and not by CLI11, so that nothing in the command is ever taken for an option of zklock.
  const auto separator = std::ranges::find(words, std::string_view{"--"});
  const bool has_command = separator != words.end() && separator + 1 != words.end();

  CLI::App app{help::about, "zklock"};
  app.footer(help::about_footer);
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", "zklock " ZKLOCK_VERSION);
  app.require_subcommand(1);
  RunOptions run;
  RunOptions lead;
  LeadersOptions leaders;
  LsOptions ls;
  RevokeOptions revoke;
  DoctorOptions doctor;
  const auto* run_app = add_run(app, run);
  const auto* lead_app = add_lead(app, lead);
  const auto* leaders_app = add_leaders(app, leaders);
  const auto* ls_app = add_ls(app, ls);
  const auto* revoke_app = add_revoke(app, revoke);
  const auto* doctor_app = add_doctor(app, doctor);
  DashboardOptions dashboard;
  const auto* dashboard_app = add_dashboard(app, dashboard);
  TopOptions top;
  const CLI::App* top_app = has_top ? add_top(app, top) : nullptr;
  TreeOptions tree;
  const auto* tree_app = add_tree(app, tree);
  WatchOptions watch;
  const auto* watch_app = add_watch(app, watch);
  CountOptions count;
  const auto* count_app = add_count(app, count);
  ServerOptions server;
  add_server(app, server);
  try {
    check_subcommand(app, words);
    app.parse(static_cast<int>(separator - words.begin()), argv);
    check_usage(app, run, lead, has_command);
  } catch (const CLI::ParseError& error) {
    return explain(app, error);
  }
  RunOptions& running = lead_app->parsed() ? lead : run;
  if (has_command) running.command.assign(separator + 1, words.end());
  if (run_app->parsed() || lead_app->parsed()) return Options{std::move(running)};
  if (leaders_app->parsed()) return Options{std::move(leaders)};
  if (ls_app->parsed()) return Options{std::move(ls)};
  if (revoke_app->parsed()) return Options{std::move(revoke)};
  if (count_app->parsed()) return Options{std::move(count)};
  if (doctor_app->parsed()) return Options{std::move(doctor)};
  if (dashboard_app->parsed()) return Options{std::move(dashboard)};
  if (top_app != nullptr && top_app->parsed()) return Options{std::move(top)};
  if (tree_app->parsed()) return Options{std::move(tree)};
  if (watch_app->parsed()) return Options{std::move(watch)};
  return Options{server};
}

}  // namespace zklock::tools
