#include "top.hpp"

#include "board_feed.hpp"
#include "connection.hpp"
#include "failure.hpp"
#include "screen.hpp"
#include "signals.hpp"
#include "top_report.hpp"

#include <zklock/path.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <clocale>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include <unistd.h>

namespace zklock::tools {
namespace {

constexpr std::chrono::milliseconds glance{50};   // between two looks at what was read
constexpr std::chrono::milliseconds redraw{250};  // ages grow
constexpr std::chrono::seconds examine_pause{1};
constexpr int max_vain = 100;
constexpr std::chrono::seconds after_loss{2};  // what failed with the link is tried again within it

/// The client and its board.
class Observation {
 public:
  Observation(asio::io_context& context, const TopOptions& options, const Connection& connection)
      : context_{context},
        path_{options.path},
        connection_{connection},
        client_{context.get_executor(), connection.config(std::chrono::seconds{10})},
        feed_{std::make_shared<BoardFeed>(context.get_executor(), client_, std::vector{options.path}, Budget{})} {
    feed_->set_viewed(true);
    feed_->start();
  }
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  /// Gives the session back.
  void close() {
    feed_->stop();
    bool closed = false;
    client_.async_close([&](error_code) { closed = true; });
    context_.restart();
    for (const auto deadline = Clock::now() + std::chrono::seconds{6}; !closed && Clock::now() < deadline;)
      context_.run_one_for(glance);
  }
  [[nodiscard]] BoardFeed& feed() noexcept { return *feed_; }
  [[nodiscard]] bool is_missing() const { return feed_->status().missing.contains(path_); }
  [[nodiscard]] TopView view() const {
    const BoardFeed::Status status = feed_->status();
    TopView view{feed_->board()};
    view.now = std::chrono::system_clock::now();
    view.connected = status.connected;
    view.contact = status.contact;
    view.missing = status.missing.contains(path_);
    if (!status.connected) view.trouble = client_.connection_trouble();
    view.is_watched = [this](const std::string& lock) { return feed_->is_watched(lock); };
    return view;
  }
  /// Throws Failure when there was no ZooKeeper for too long.
  void check_link() {
    if (feed_->status().connected) {
      away_since_ = {};
      was_connected_ = true;
      return;
    }
    if (was_connected_) lost_ = Clock::now();
    if (away_since_ == Clock::time_point{}) away_since_ = Clock::now();
    if (Clock::now() - away_since_ > connect_limit) throw connection_.unreachable(client_);
  }
  /// Whether everything was read once.
  [[nodiscard]] bool is_settled() const {
    const auto status = feed_->status();
    return status.connected && feed_->is_settled() && Clock::now() - lost_ > after_loss;
  }

 private:
  asio::io_context& context_;
  std::string path_;
  const Connection& connection_;
  Client client_;
  std::shared_ptr<BoardFeed> feed_;
  Clock::time_point away_since_{};
  Clock::time_point lost_{};
  bool was_connected_ = false;
};

class Top {
 public:
  Top(asio::io_context& context, const TopOptions& options, const Connection& connection)
      : context_{context}, options_{options}, observation_{context, options, connection} {}
  ~Top() { observation_.close(); }
  Top(const Top&) = delete;
  Top& operator=(const Top&) = delete;

  void once() {
    while (!is_over_ && !observation_.is_settled()) {
      observation_.check_link();
      context_.run_for(glance);
    }
    if (is_over_) return;
    if (observation_.is_missing())
      say("there is no node " + options_.path + ", as where nobody holds or waits for a lock");
    const auto now = std::chrono::system_clock::now();
    std::cout << (options_.json ? to_json_lines(feed().board(), now) : to_table(feed().board(), now)) << std::flush;
  }

  void follow() {
    while (!is_over_ && !feed().status().connected) {
      observation_.check_link();
      context_.run_for(glance);
    }
    ChangeReport report{options_.path};
    for (Clock::time_point looked{}; !is_over_ && std::cout; context_.run_for(glance)) {
      if (Clock::now() - looked > std::chrono::seconds{1}) {
        look_at_all();
        looked = Clock::now();
      }
      const std::string lines = report.changes(observation_.view());
      if (!lines.empty()) std::cout << lines << std::flush;
    }
  }

  void show() {
    std::setlocale(LC_CTYPE, "");
    Screen screen;
    screen_ = &screen;
    ScreenModel model{options_.path};
    keys_.emplace(context_, ::dup(STDIN_FILENO));
    wait_for_keys();
    while (!is_over_) {
      take_keys(screen, model);
      if (model.is_done()) break;
      screen.show(model.draw(view_for(model), screen.size()));
      if (!model.shows_blocking()) feed().look_at(model.shown(), model.open());
      rest();
    }
    keys_.reset();
    screen_ = nullptr;
  }

  asio::awaitable<void> obey(Signals& signals) {
    for (;;) {
      const int number = static_cast<int>((co_await signals.next()).ssi_signo);
      if (number == SIGTSTP)
        stop();
      else if (number == SIGCONT && screen_ != nullptr)
        screen_->resume();
      else if (number == SIGWINCH && screen_ != nullptr)
        screen_->resize();
      else if (number == SIGINT || number == SIGTERM || number == SIGHUP)
        is_over_ = true;
      is_awake_ = true;
    }
  }

 private:
  [[nodiscard]] BoardFeed& feed() noexcept { return observation_.feed(); }

  /// Until a key or a signal comes, or it is time to draw again.
  void rest() {
    is_awake_ = false;
    for (const auto end = Clock::now() + redraw; !is_awake_ && Clock::now() < end;)
      context_.run_one_until(std::chrono::steady_clock::now() + glance);
  }

  void wait_for_keys() {
    keys_->async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code error) {
      if (!error) is_awake_ = has_input_ = true;
    });
  }

  /// A terminal that is gone has input for ever, and no key in it.
  void take_keys(Screen& screen, ScreenModel& model) {
    bool has_key = false;
    for (auto key = screen.key(); key; key = screen.key()) {
      model.press(*key);
      has_key = true;
    }
    if (!std::exchange(has_input_, false)) return;
    vain_ = has_key ? 0 : vain_ + 1;
    if (vain_ > max_vain) is_over_ = true;
    wait_for_keys();
  }

  /// As the shell's user expects of Ctrl-Z. Where no shell could continue it, the system does not stop it.
  void stop() {
    if (screen_ == nullptr) return;
    screen_->suspend();
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(SIGTSTP, &standard, nullptr);  // ncurses has set another
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, SIGTSTP);
    ::raise(SIGTSTP);
    ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    ::pthread_sigmask(SIG_BLOCK, &only, nullptr);
    screen_->resume();
  }

  /// Which client blocks which is a matter of all locks: all are read while it is shown.
  [[nodiscard]] TopView view_for(const ScreenModel& model) {
    TopView view = observation_.view();
    if (model.shows_blocking() && Clock::now() - examined_ >= examine_pause) {
      examined_ = Clock::now();
      look_at_all();
      diagnosis_.examine(feed().board(), view.now);
    }
    view.diagnosis = &diagnosis_;
    return view;
  }

  void look_at_all() {
    std::vector<std::string> paths;
    for (const BoardLock* lock : arrange(feed().board())) paths.push_back(lock->path);
    feed().look_at(paths, {});
  }

  asio::io_context& context_;
  const TopOptions& options_;
  Observation observation_;
  Screen* screen_ = nullptr;  ///< while it is shown
  std::optional<asio::posix::stream_descriptor> keys_;
  BoardDiagnosis diagnosis_;
  Clock::time_point examined_{};
  bool has_input_ = false;
  int vain_ = 0;  ///< how often in a row there was input without a key
  bool is_awake_ = false;
  bool is_over_ = false;
};

bool wants_screen(const TopOptions& options) {
  if (options.once || options.json || ::isatty(STDOUT_FILENO) != 1 || ::isatty(STDIN_FILENO) != 1) return false;
  if (options.where.verbose && ::isatty(STDERR_FILENO) == 1)
    throw Failure{status::usage, "--verbose would write over the screen: send it to a file, by 2>FILE"};
  return true;
}

}  // namespace

int top(const TopOptions& options) {
  validate_path(options.path);
  const bool has_screen = wants_screen(options);
  asio::io_context context{1};
  Signals signals{context.get_executor(), {SIGINT, SIGTERM, SIGHUP}};
  std::unique_ptr<Signals> job_signals;
  if (has_screen)
    job_signals =
        std::make_unique<Signals>(context.get_executor(), std::initializer_list<int>{SIGTSTP, SIGCONT, SIGWINCH});
  const Connection connection{options.where};
  Top top{context, options, connection};
  const auto ignore = [](const std::exception_ptr&) {};
  asio::co_spawn(context, top.obey(signals), ignore);
  if (job_signals) asio::co_spawn(context, top.obey(*job_signals), ignore);
  if (has_screen)
    top.show();
  else if (options.once || !options.json)
    top.once();
  else
    top.follow();
  return std::cout ? 0 : status::found;
}

}  // namespace zklock::tools
