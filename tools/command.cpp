#include "command.hpp"

#include "descendants.hpp"
#include "failure.hpp"
#include "guard.hpp"

#include <zklock/timer.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zklock::tools {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

constexpr const char* guard_is_gone = "the command's guard was killed: killing all that the command has started";

[[noreturn]] void throw_errno(const char* what) { throw std::system_error{errno, std::generic_category(), what}; }

}  // namespace

GuardProcess::GuardProcess(const RunOptions& options, const sigset_t& mask) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) throw_errno("socketpair");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  pid_ = ::fork();
  if (pid_ < 0) throw_errno("fork");
  if (pid_ == 0) {
    ::close(ends[0]);
    run_guard(ends[1], options, mask);
  }
  ::close(ends[1]);
  socket_ = ends[0];
}

GuardProcess::~GuardProcess() {
  if (socket_ >= 0) ::close(socket_);
  ::waitpid(pid_, nullptr, 0);
}

Command::Command(const asio::any_io_executor& executor, GuardProcess& guard)
    : guard_{guard.pid()}, descriptor_{guard.take_socket()}, socket_{executor, descriptor_} {}

void Command::start(std::string name, const std::vector<std::string>& environment, Clock::time_point until) {
  name_ = std::move(name);
  others_ = descendants();
  std::erase(others_, guard_);
  std::string text;
  for (const std::string& entry : environment) text += entry + '\0';
  keep_until(until);  // first: from now on this program may be stopped
  if (::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL) < 0) throw_errno("the command's guard");
}

asio::awaitable<Ended> Command::ended() {
  if (const auto report = co_await next_report()) {
    if (report->kind == Report::Kind::ended)
      co_return Ended{report->number, Clock::time_point{Clock::duration{report->at}}};
    say(name_ + ": " + std::strerror(report->number));
    co_return Ended{report->number == ENOENT ? status::not_found : status::cannot_execute, Clock::now()};
  }
  say(guard_is_gone);
  co_await kill_what_is_left();
  co_return Ended{status::of_signal(SIGKILL), Clock::now()};
}

void Command::keep_until(Clock::time_point until) const {
  tell({Order::Kind::keep, 0, false, until.time_since_epoch().count()});
}

void Command::signal(int number, bool from_terminal) const { tell({Order::Kind::signal, number, from_terminal, 0}); }

void Command::end() const { tell({Order::Kind::end, 0, false, 0}); }

void Command::tell(const Order& order) const {
  // The guard may have ended meanwhile: ended() reports that.
  [[maybe_unused]] const auto sent = ::send(descriptor_, &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT);
}

asio::awaitable<std::optional<Report>> Command::next_report() {
  Report report;
  const auto [error, size] =
      co_await socket_.async_read_some(asio::buffer(&report, sizeof report), asio::as_tuple(asio::use_awaitable));
  if (error || size != sizeof report) co_return std::nullopt;
  co_return report;
}

asio::awaitable<void> Command::kill_what_is_left() {
  Timer timer{co_await asio::this_coro::executor};
  // As long as any process is left, one of them is a child of this process, and stays so until it is waited for: none
  // is overlooked.
  for (milliseconds pause{10};; pause = std::min(2 * pause, milliseconds{1'000})) {
    const auto left = descendants(others_);
    if (left.empty()) co_return;
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    for (const pid_t pid : left) ::waitpid(pid, nullptr, WNOHANG);
    timer.expires_after(pause);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

}  // namespace zklock::tools
