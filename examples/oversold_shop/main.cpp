// The oversold shop: eight processes sell a stock of 1000 from one shared file: read, think, write.
#include "dashboard.hpp"
#include "report.hpp"
#include "run.hpp"
#include "worker.hpp"

#include <zklock/testing/test_server.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>

namespace {

constexpr const char* about =
    "Eight processes sell a stock of 1000 from one shared file. Each reads the stock, thinks, and writes it.";

constexpr const char* footer = R"(
Three runs, on a ZooKeeper server that is started for them on 127.0.0.1:
  1  without a lock: they sell what somebody else has sold already
  2  under zklock::InterProcessMutex: exactly 1000 are sold
  3  as 2, but a process is killed (SIGKILL) while it holds the lock, between its reading and its writing: the others go
     on when its session has timed out; exactly 1000 are sold; and the file refuses a write with the dead holder's token
Every sale is also noted in a ledger that is only appended to; what is said to be sold is counted there.

The last line is
  demo: sold=1000 stock=1000 oversold=0 processes=8 killed=1 handoff_after_kill_ms=N
of run 3. Exit status: 0; 1 if anything did not hold, with the reason and without that line.)";

using namespace shop;

void demonstrate(const zklock::testing::TestServer& server, int stock) {
  // The files are in the server's directory: it is removed with the server, however this program ends.
  Plan plan{.runs = 3, .stock = stock, .directory = server.directory().string()};
  std::vector<std::pair<std::string, Outcome>> rows;
  const auto run = [&](const char* title) {
    plan.number = static_cast<int>(rows.size()) + 1;
    plan.title = title;
    rows.emplace_back(title, perform(plan));
  };
  run("without a lock");
  plan.connect = server.connect_string();
  run("under InterProcessMutex");
  plan.kill_a_holder = true;
  run("the holder killed in mid-sale");

  print_table(rows);
  const Outcome& last = rows.back().second;
  std::printf("demo: sold=%d stock=%d oversold=%d processes=%d killed=%d handoff_after_kill_ms=%lld\n", last.sold,
              last.stock, last.oversold(), processes, last.killed, static_cast<long long>(last.handoff->count()));
}

/// Sells the stock again and again, each time with a holder killed.
void keep_selling(const zklock::testing::TestServer& server, int stock, const std::string& program,
                  std::chrono::seconds how_long) {
  const Dashboard dashboard{program, server.connect_string(), "/shop"};
  std::printf("the page of all locks is at %s\n", dashboard.address().c_str());
  std::fflush(stdout);
  Plan plan{.number = 0,
            .title = "one holder killed",
            .stock = stock,
            .directory = server.directory().string(),
            .connect = server.connect_string(),
            .kill_a_holder = true};
  for (const auto end = Clock::now() + how_long; Clock::now() < end;) {
    ++plan.number;
    static_cast<void>(perform(plan));
  }
}

void add_worker_options(CLI::App& worker, WorkerOptions& options) {
  worker.group("");  // not in --help: how the demo starts itself
  worker.add_option("--number", options.number);
  worker.add_option("--parent", options.parent);
  worker.add_option("--stock-file", options.stock_file);
  worker.add_option("--ledger", options.ledger);
  worker.add_option("--connect", options.connect);
  worker.add_option("--lock", options.lock);
  worker.add_option("--stop-at", options.stop_at);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{about, "zklock_oversold_shop"};
  app.footer(footer);
  int stock = 1000;
  app.add_option("--stock", stock, "How many there are to sell, 100 to 100000; 1000 if not said")
      ->check(CLI::Range(100, 100'000));
  std::string program;
  app.add_option("--dashboard", program, "Instead, sell again and again, beside this program's page of all locks")
      ->type_name("ZKLOCK");
  int seconds = 3600;
  app.add_option("--seconds", seconds, "How long, with --dashboard; 3600 if not said")->check(CLI::Range(1, 86'400));
  WorkerOptions worker_options;
  auto* worker = app.add_subcommand("worker");
  add_worker_options(*worker, worker_options);
  CLI11_PARSE(app, argc, argv);
  try {
    if (worker->parsed()) {
      work(worker_options);
      return 0;
    }
    const auto begin = Clock::now();
    std::printf("starting a ZooKeeper server on 127.0.0.1 ...\n");
    std::fflush(stdout);
    const zklock::testing::TestServer server{{.tick = tick}};
    const auto took = std::chrono::duration<double>(Clock::now() - begin).count();
    std::printf("it listens at %s, after %.1f s\n", server.connect_string().c_str(), took);
    std::fflush(stdout);
    if (program.empty())
      demonstrate(server, stock);
    else
      keep_selling(server, stock, program, std::chrono::seconds{seconds});
    return 0;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    const auto who = worker->parsed() ? "worker " + std::to_string(worker_options.number) : "demo failed";
    std::cerr << "\n" + who + ": " + error.what() + "\n";
    return 1;
  }
}
