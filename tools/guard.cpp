#include "guard.hpp"

#include "descendants.hpp"
#include "duration.hpp"
#include "failure.hpp"

#include <zklock/clock.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zklock::tools {
namespace {

using namespace std::chrono_literals;

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  std::ranges::transform(strings, std::back_inserter(result), [](std::string& text) { return text.data(); });
  result.push_back(nullptr);
  return result;
}

/// `more` replaces entries of the same name.
std::vector<std::string> environment_with(std::vector<std::string> more) {
  const auto is_replaced = [&, count = more.size()](std::string_view entry) {
    const auto name = entry.substr(0, entry.find('=') + 1);
    return std::any_of(more.begin(), more.begin() + static_cast<std::ptrdiff_t>(count),
                       [&](const std::string& one) { return one.starts_with(name); });
  };
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!is_replaced(*entry)) more.emplace_back(*entry);
  return more;
}

/// A zklock that is not stopped notices by then that the lease is over, and reports it.
constexpr auto margin = 100ms;

/// Whether the signal is for all processes that were started; others, such as SIGHUP, have a meaning for the command
/// itself.
bool is_for_all(int number) { return number == SIGINT || number == SIGTERM || number == SIGQUIT; }

class Guard {
 public:
  Guard(int zklock, const RunOptions& options, const sigset_t& mask) : zklock_{zklock}, options_{options}, mask_{mask} {
    ::prctl(PR_SET_NAME, "zklock-guard");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    sigset_t ended;
    ::sigemptyset(&ended);
    ::sigaddset(&ended, SIGCHLD);
    children_ = ::signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  void operator()() {
    if (receive_lease() && receive_environment() && is_in_time() && start()) watch();
    // The report would not arrive if this process ended before zklock while an order of zklock is still unread.
    Order unread;
    while (::recv(zklock_, &unread, sizeof unread, 0) > 0) continue;
  }

 private:
  void watch() {
    while (reap()) {
      wait();
      hear_children();
      // One order at a time: signals may come as fast as they can be passed on, and must not hide the command's end.
      const bool may_have_more = hear_zklock();
      if (!may_have_more && !ends_ && until_ && Clock::now() >= *until_) {
        say(options_.path + " is lost with its session, and zklock is stopped or late: ending the command");
        end();
      }
      if (is_killing_ || (ends_ && Clock::now() >= *ends_)) kill();
    }
    report({Report::Kind::ended, status_, Clock::now().time_since_epoch().count()});
  }

  // ---- the command

  /// Comes before the command begins, which would else outlive the lease of a zklock that is stopped just then.
  bool receive_lease() {
    Order keep;
    if (::recv(zklock_, &keep, sizeof keep, 0) != sizeof keep) return false;  // zklock has ended without the lock
    obey(keep);
    return true;
  }

  bool receive_environment() {
    const auto size = ::recv(zklock_, nullptr, 0, MSG_PEEK | MSG_TRUNC);
    if (size <= 0) return false;
    std::string text(static_cast<std::size_t>(size), '\0');
    if (::recv(zklock_, text.data(), text.size(), 0) != size) return false;
    for (std::string_view left = text; !left.empty(); left.remove_prefix(left.find('\0') + 1))
      environment_.emplace_back(left.substr(0, left.find('\0')));
    return true;
  }

  /// zklock or its machine may have stood still between the grant and now.
  bool is_in_time() {
    if (!until_ || Clock::now() < *until_ - margin) return true;
    report({Report::Kind::ended, status::lock_lost, Clock::now().time_since_epoch().count()});
    return false;
  }

  bool start() {
    auto words = options_.command;
    auto environment = environment_with(environment_);
    auto word_pointers = pointers(words);
    auto environment_pointers = pointers(environment);
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return refuse(errno);
    const pid_t us = ::getpid();
    command_ = ::fork();
    if (command_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != us) ::_exit(status::unavailable);
      ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
      ::execvpe(word_pointers[0], word_pointers.data(), environment_pointers.data());
      const int error = errno;
      [[maybe_unused]] const auto written = ::write(pipe[1], &error, sizeof error);
      ::_exit(status::not_found);
    }
    ::close(pipe[1]);
    if (command_ < 0) return refuse(errno);
    int error = 0;  // stays so when exec closes the other end
    while (::read(pipe[0], &error, sizeof error) < 0 && errno == EINTR) continue;
    ::close(pipe[0]);
    if (error != 0) return refuse(error);
    return true;
  }

  bool refuse(int error) {
    report({Report::Kind::refused, error, 0});
    return false;
  }

  /// Whether any process is left.
  bool reap() {
    for (;;) {
      int how = 0;
      const pid_t ended = ::waitpid(-1, &how, WNOHANG);
      if (ended <= 0) return ended == 0;
      if (ended == command_) {
        status_ = WIFSIGNALED(how) ? status::of_signal(WTERMSIG(how)) : WEXITSTATUS(how);
        command_ = 0;
      }
    }
  }

  // ---- waiting

  void wait() const {
    std::array<pollfd, 2> sources{{{children_, POLLIN, 0}, {is_alone_ ? -1 : zklock_, POLLIN, 0}}};
    // The clock of poll() stops while the machine sleeps.
    auto left = std::chrono::milliseconds{1s};
    if (is_killing_) left = pause_;  // until all that was started meanwhile has ended, too
    if (const auto next = ends_ ? ends_ : until_; next && !is_killing_)
      left = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()), 0ms, left);
    ::poll(sources.data(), sources.size(), static_cast<int>(left.count()));
  }

  void hear_children() const {
    signalfd_siginfo info{};
    while (::read(children_, &info, sizeof info) > 0) continue;  // reap() finds out itself
  }

  bool hear_zklock() {
    if (is_alone_) return false;
    Order order;
    const auto size = ::recv(zklock_, &order, sizeof order, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (size == sizeof order) {
      obey(order);
      return true;
    }
    is_alone_ = true;
    kill();
    return false;
  }

  void obey(const Order& order) {
    if (order.kind == Order::Kind::keep) until_ = Clock::time_point{Clock::duration{order.until}} + margin;
    if (order.kind == Order::Kind::end) end();
    if (order.kind != Order::Kind::signal) return;
    std::vector<pid_t> whom;
    if (is_for_all(order.number))
      whom = everybody();
    else if (command_ != 0)
      whom = {command_};
    if (order.from_terminal) std::erase_if(whom, [](pid_t pid) { return ::getpgid(pid) == ::getpgrp(); });
    signal(whom, order.number);
  }

  void end() {
    if (ends_) return;
    ends_ = *after(options_.kill_after);
    signal(everybody(), SIGTERM);
    signal(everybody(), SIGCONT);  // a stopped process does not react to SIGTERM
  }

  void kill() {
    if (!is_killing_ && !is_alone_)
      say("the command has not ended within " + format_duration(options_.kill_after) + ": killing it");
    pause_ = is_killing_ ? std::min<std::chrono::milliseconds>(2 * pause_, 1s) : 10ms;
    is_killing_ = true;
    signal(everybody(), SIGKILL);
  }

  /// Includes the command even if /proc cannot be read.
  [[nodiscard]] std::vector<pid_t> everybody() const {
    auto all = descendants();
    if (command_ != 0 && std::ranges::find(all, command_) == all.end()) all.push_back(command_);
    return all;
  }

  static void signal(const std::vector<pid_t>& whom, int number) {
    for (const pid_t pid : whom) ::kill(pid, number);
  }

  void report(const Report& what) const { ::send(zklock_, &what, sizeof what, MSG_NOSIGNAL); }

  int zklock_;
  int children_ = -1;
  const RunOptions& options_;
  const sigset_t& mask_;
  std::vector<std::string> environment_;
  pid_t command_ = 0;  ///< 0: it has ended
  int status_ = 0;
  std::optional<Clock::time_point> until_;  ///< the end of the lease, as far as it is known
  std::optional<Clock::time_point> ends_;   ///< SIGTERM has been sent, SIGKILL follows then
  bool is_killing_ = false;
  std::chrono::milliseconds pause_{};  ///< until it kills again
  bool is_alone_ = false;              ///< zklock has ended
};

}  // namespace

void run_guard(int zklock, const RunOptions& options, const sigset_t& mask) {
  try {
    Guard{zklock, options, mask}();
  } catch (const std::exception& error) {
    say(error.what());
    ::_exit(status::unavailable);  // zklock kills what this process leaves behind
  }
  ::_exit(0);
}

}  // namespace zklock::tools
