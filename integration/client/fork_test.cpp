// Processes that are forked while the client works.
#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/operations.hpp"

#include <atomic>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace zklock;
using namespace zklock::test;

namespace {

/// Keeps a number of reads under way.
class Reads {
 public:
  Reads(const Client& client, int number) : client_{client} {
    for (int i = 0; i < number; ++i) read();
  }
  ~Reads() {
    stopped_ = true;
    static_cast<void>(eventually([this] { return under_way_ == 0; }));
  }
  Reads(const Reads&) = delete;

  [[nodiscard]] int done() const { return done_; }

 private:
  void read() {
    ++under_way_;
    client_.async_exists("/", asio::bind_executor(client_.get_executor(), [this](error_code, std::optional<Stat>) {
                           ++done_;
                           if (!stopped_) read();
                           --under_way_;
                         }));
  }

  const Client& client_;
  std::atomic<int> under_way_{0};
  std::atomic<int> done_{0};
  std::atomic<bool> stopped_{false};
};

/// The work of a child; 0 if it succeeds. An alarm kills a child that hangs.
int use_a_client_of_its_own(const std::string& servers) try {
  ::alarm(30);
  Client client{{.connect_string = servers, .session_timeout = session_timeout}};
  if (!client.wait_connected(20s)) return 1;
  const bool answered = !std::get<0>(get_data(client, "/"));
  client.close();
  return answered ? 0 : 2;
} catch (const std::exception&) {
  return 3;
}

}  // namespace

TEST_CASE("a child process that is forked under load has a working client of its own") {
#if defined(__SANITIZE_ADDRESS__)
  WARN("skipped: AddressSanitizer's allocator is not made fit for use in a child of a process with threads");
  return;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
  WARN("skipped: a sanitizer does not let a child of a process with threads start a thread, or allocate");
  return;
#endif
#endif
  const std::string servers = shared_server().connect_string();
  const Client client = make_client(shared_server());
  static_cast<void>(connected_session(client));
  const Reads reads{client, 64};
  for (int round = 0; round < 20; ++round) {
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) {
      const int before = reads.done();
      REQUIRE(eventually([&] { return reads.done() > before + i; }));
      const pid_t child = ::fork();
      if (child == 0) ::_exit(use_a_client_of_its_own(servers));
      REQUIRE(child > 0);
      children.push_back(child);
    }
    int well = 0;
    for (const pid_t child : children) {
      int status = 0;
      REQUIRE(::waitpid(child, &status, 0) == child);
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) ++well;
    }
    CAPTURE(round);
    REQUIRE(well == 6);
  }
}

TEST_CASE("in a forked child every call is refused, while the parent goes on") {
  Client client = make_client(shared_server());
  const Session session = connected_session(client);
  const InterProcessMutex mutex{client, fresh_path()};
  Lease lease = acquire(mutex);
  const auto refused = [](auto&& call) {
    try {
      call();
    } catch (const boost::system::system_error& error) {
      return error.code() == Error::used_after_fork;
    }
    return false;
  };
  const pid_t child = ::fork();
  if (child == 0) {
    const auto ignore = [](error_code, auto&&...) {};
    const bool all = client.in_forked_child() && refused([&] { client.async_get_data("/", ignore); }) &&
                     refused([&] { session.async_sync("/", ignore); }) && refused([&] { client.close(); }) &&
                     refused([&] { client.async_close(ignore); }) &&
                     refused([&] { static_cast<void>(client.wait_connected(1s)); }) &&
                     refused([&] { mutex.async_acquire(ignore); }) && refused([&] { lease.async_release(ignore); });
    { const Lease dropped = std::move(lease); }
    { const Client dropped = std::move(client); }
    ::_exit(all ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(lease.is_held());
  CHECK(exists(session, lease.node_path()));
}
