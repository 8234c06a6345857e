#include "signals.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <system_error>

namespace zklock::tools {
namespace {

bool is_ignored(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Signals::Signals(const boost::asio::any_io_executor& executor, std::initializer_list<int> numbers)
    : descriptor_{executor} {
  std::signal(SIGCHLD, SIG_DFL);  // if it were ignored, the kernel would discard exit statuses
  sigset_t wanted;
  ::sigemptyset(&wanted);
  for (const int number : numbers)
    if (!is_ignored(number)) ::sigaddset(&wanted, number);
  ::pthread_sigmask(SIG_BLOCK, &wanted, &before_);
  const int descriptor = ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) throw std::system_error{errno, std::generic_category(), "signalfd"};
  descriptor_.assign(descriptor);
}

boost::asio::awaitable<signalfd_siginfo> Signals::next() {
  signalfd_siginfo info{};
  co_await descriptor_.async_read_some(boost::asio::buffer(&info, sizeof info), boost::asio::use_awaitable);
  co_return info;
}

}  // namespace zklock::tools
