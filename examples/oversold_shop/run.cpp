#include "run.hpp"

#include "crew.hpp"
#include "ledger.hpp"
#include "progress.hpp"
#include "stock_file.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <unistd.h>

namespace shop {
namespace {

constexpr auto start_patience = 30s;
constexpr auto sale_patience = 20s;
constexpr int victim = 3;

void require(bool condition, const std::string& rule) {
  if (!condition) throw std::runtime_error{rule};
}

/// The killed holder, and when it was killed.
struct Victim {
  Token token = 0;
  Clock::time_point when{};
};

class Run {
 public:
  explicit Run(const Plan& plan)
      : plan_{plan},
        stock_file_{plan.directory + "/run-" + std::to_string(plan.number) + ".stock"},
        ledger_file_{plan.directory + "/run-" + std::to_string(plan.number) + ".ledger"},
        ledger_{ledger_file_},
        progress_{"run " + std::to_string(plan.number) + (plan.runs > 0 ? " of " + std::to_string(plan.runs) : "") +
                  ", " + plan.title} {}

  Outcome operator()() {
    StockFile::create(stock_file_, plan_.stock);
    Crew crew{workers()};
    await_ready(crew);
    begin_ = Clock::now();
    crew.open_gate();
    await_end(crew);
    return check();
  }

 private:
  [[nodiscard]] std::vector<WorkerOptions> workers() const {
    std::vector<WorkerOptions> result;
    for (int number = 1; number <= processes; ++number)
      result.push_back({.number = number,
                        .parent = ::getpid(),
                        .stock_file = stock_file_,
                        .ledger = ledger_file_,
                        .connect = plan_.connect,
                        .lock = "/shop/run-" + std::to_string(plan_.number),
                        // In the middle of its share: the wait queue is fair, so each worker sells an eighth.
                        .stop_at = plan_.kill_a_holder && number == victim ? plan_.stock / processes / 2 : 0});
    return result;
  }

  static void await_ready(Crew& crew) {
    const auto deadline = Clock::now() + start_patience;
    for (int ready = 0; ready < processes;) {
      if (crew.next_message(100ms)) ++ready;
      require(crew.running() == processes, "a worker has left before the sale");
      require(Clock::now() < deadline, "the workers are not ready in time");
    }
  }

  void await_end(Crew& crew) {
    int sold = 0;
    auto last_sale = begin_;
    while (crew.running() > 0) {
      if (const auto message = crew.next_message(20ms)) heed(crew, *message);
      const auto now = Clock::now();
      if (const int count = ledger_.count(); count != sold) {
        sold = count;
        last_sale = now;
      }
      require(now - last_sale < sale_patience, "no sale for 20 s, with " + std::to_string(sold) + " sold");
      progress_.show(sold, plan_.stock, now - begin_);
    }
    while (const auto message = crew.next_message(0ms)) heed(crew, *message);
  }

  void heed(Crew& crew, const Message& message) {
    if (message.kind == Message::Kind::refused) ++refused_;
    if (message.kind != Message::Kind::in_mid_sale) return;
    victim_ = {message.token, Clock::now()};
    crew.kill(message.worker);
  }

  Outcome check() {
    const auto sales = ledger_.read();
    Outcome outcome{.sold = static_cast<int>(sales.size()), .stock = plan_.stock, .refused = refused_};
    require(!sales.empty(), "nothing was sold");
    outcome.seconds = std::chrono::duration<double>(sales.back().when - begin_).count();
    if (plan_.connect.empty())
      require(outcome.oversold() > 0, "without a lock, and all the same not oversold");
    else
      check_exact(sales);
    if (plan_.kill_a_holder) check_handoff(sales, outcome);
    progress_.finish("sold " + std::to_string(outcome.sold) + " of " + std::to_string(outcome.stock) +
                     (outcome.oversold() == 0 ? ", exactly" : ": oversold by " + std::to_string(outcome.oversold())));
    return outcome;
  }

  /// Checks that file and ledger agree, and that each sale had a greater token than the one before.
  void check_exact(const std::vector<Sale>& sales) const {
    const Shelf shelf = StockFile{stock_file_}.look();
    require(static_cast<int>(sales.size()) == plan_.stock,
            "the ledger has " + std::to_string(sales.size()) + " sales of a stock of " + std::to_string(plan_.stock));
    require(shelf == Shelf{0, plan_.stock},
            "the stock file says " + std::to_string(shelf.sold) + " sold and " + std::to_string(shelf.stock) + " left");
    const auto not_growing = [](const Sale& a, const Sale& b) { return a.token >= b.token; };
    require(std::ranges::adjacent_find(sales, not_growing) == sales.end(), "a fencing token did not grow");
  }

  void check_handoff(const std::vector<Sale>& sales, Outcome& outcome) {
    require(victim_.token != 0, "no holder was killed");
    const auto next = std::ranges::find_if(sales, [&](const Sale& sale) { return sale.when > victim_.when; });
    require(next != sales.end(), "nobody went on after the holder was killed");
    std::set<int> others;
    std::for_each(next, sales.end(), [&](const Sale& sale) { others.insert(sale.worker); });
    require(others.size() == processes - 1 && !others.contains(victim),
            "only " + std::to_string(others.size()) + " of the others went on after the holder was killed");
    outcome.killed = 1;
    outcome.handoff = std::chrono::duration_cast<std::chrono::milliseconds>(next->when - victim_.when);
    // One tick more for a machine with other load.
    require(*outcome.handoff <= session_timeout + 2 * tick,
            "the others went on only after " + std::to_string(outcome.handoff->count()) + " ms");
    outcome.refused += try_stale_write();
  }

  /// Does what the killed holder would have done if it had only been asleep.
  [[nodiscard]] int try_stale_write() const {
    StockFile file{stock_file_};
    const Shelf before = file.look();
    require(!file.write({before.stock - 1, before.sold + 1}, victim_.token),
            "the file took a write with a stale token");
    require(file.look() == before, "a refused write has changed the file");
    return 1;
  }

  const Plan& plan_;
  std::string stock_file_;
  std::string ledger_file_;
  Ledger ledger_;
  Progress progress_;
  Clock::time_point begin_{};
  Victim victim_{};
  int refused_ = 0;
};

}  // namespace

Outcome perform(const Plan& plan) { return Run{plan}(); }

}  // namespace shop
