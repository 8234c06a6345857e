// Which waits of the I/O thread its watchdog notes.
#include "watchdog.hpp"

#include "support/await.hpp"
#include "support/catch.hpp"
#include "support/temporary_directory.hpp"

#include <zklock/timer.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <future>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace zklock;
using namespace zklock::chaos;
using namespace std::chrono_literals;
using zklock::test::eventually;

namespace {

/// A pipe without room: who writes to it waits until it is read.
class FullPipe {
 public:
  explicit FullPipe(const std::string& path) {
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    file_ = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    REQUIRE(file_ >= 0);
    const std::string page(4096, ' ');
    while (::write(file_, page.data(), page.size()) > 0) {
    }
  }
  ~FullPipe() { ::close(file_); }
  FullPipe(const FullPipe&) = delete;

  void empty() {
    std::string page(4096, ' ');
    while (::read(file_, page.data(), page.size()) > 0) {
    }
  }

 private:
  int file_ = -1;
};

}  // namespace

TEST_CASE("an I/O thread that stands still is noted, but not for the time of its writes to a log") {
  const test::TemporaryDirectory directory;
  const Client client{ClientConfig{.connect_string = "127.0.0.1:1"}};
  const Log log{directory.file("log")};
  FullPipe pipe{directory.file("pipe")};
  const Log blocked{directory.file("pipe")};
  const Watchdog watchdog{client, log, 1};
  const auto longest = [&] {
    std::int64_t most = 0;
    for (const Record& each : read_log(directory.file("log")))
      if (each.event == Event::stalled) most = std::max(most, each.number);
    return most;
  };

  std::promise<Clock::duration> in_write;
  asio::post(client.get_executor(), [&] {
    blocked.write({.event = Event::late, .number = 1});
    in_write.set_value(Log::time_in_writes());
  });
  const auto begin = Clock::now();
  CHECK(eventually([&] { return Clock::now() > begin + 2s; }));
  pipe.empty();
  CHECK(in_write.get_future().get() > 1s);
  Timer later{client.get_executor(), 50ms};  // its end comes after that of the watchdog's
  later.async_wait(asio::use_future).get();
  CHECK(longest() < 1'000);

  asio::post(client.get_executor(), [] { std::this_thread::sleep_for(400ms); });  // what is to be noted
  CHECK(eventually([&] { return longest() > 200; }));
}
