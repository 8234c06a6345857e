#include "../zklock/src/testing/port.hpp"
#include "../zklock/src/testing/setup.hpp"
#include "../zklock/src/testing/wire.hpp"
#include "support/await.hpp"
#include "support/catch.hpp"

#include <zklock/testing/test_server.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using zklock::test::eventually;
using zklock::testing::after;
using zklock::testing::Descriptor;
using zklock::testing::TestServer;
using zklock::testing::TestServerOptions;
namespace fs = std::filesystem;
namespace wire = zklock::testing::wire;

// "pid (name) state parent ..."; empty when there is no such process, not even a zombie.
std::string state_and_parent(const fs::path& process) {
  std::string stat;
  std::getline(std::ifstream{process / "stat"}, stat);
  return stat.empty() ? stat : stat.substr(stat.rfind(") ") + 2);
}

std::string state_and_parent(int pid) { return state_and_parent(fs::path{"/proc"} / std::to_string(pid)); }

bool exists(int pid) { return !state_and_parent(pid).empty(); }

int parent(int pid) { return std::stoi(state_and_parent(pid).substr(2)); }

// Of this process: all, or those that a program that it executes would get.
std::set<int> open_descriptors(bool only_inheritable = false) {
  std::set<int> numbers;
  for (int number = 0; number < 1024; ++number)
    if (const int flags = ::fcntl(number, F_GETFD); flags >= 0 && !(only_inheritable && (flags & FD_CLOEXEC) != 0))
      numbers.insert(number);
  return numbers;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
    return {};
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

constexpr int ephemeral = 1;

/// A client of the simplest kind: it never pings.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, const wire::SessionName& session = {}, std::chrono::milliseconds limit = 30s)
      : connection_{port, after(limit)} {
    connection_.send_connect(session, 10'000);
    session_ = connection_.receive_connected();
  }
  [[nodiscard]] const wire::SessionName& session() const { return session_; }

  std::int32_t create(std::string_view path, int flags) {
    constexpr int one_acl = 1;
    constexpr int all_permissions = 31;
    wire::Record body;
    body.put_buffer(path).put_buffer("data").put_int(one_acl).put_int(all_permissions);
    connection_.send_request(wire::Opcode::create, body.put_buffer("world").put_buffer("anyone").put_int(flags));
    return connection_.receive_reply();
  }
  bool has(std::string_view path) {
    connection_.send_request(wire::Opcode::exists, wire::Record{}.put_buffer(path).put_bool(false));
    return connection_.receive_reply() == 0;
  }

 private:
  wire::Connection connection_;
  wire::SessionName session_;
};

}  // namespace

TEST_CASE("a server starts within three seconds and answers") {
  const auto begin = std::chrono::steady_clock::now();
  const TestServer server;
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  INFO("started in " << took.count() << " ms");
  CHECK(took < 3s);
  CHECK(server.connect_string() == "127.0.0.1:" + std::to_string(server.port()));
  CHECK(server.four_letter_word("ruok") == "imok");
  CHECK(server.four_letter_word("srvr").find("Mode: standalone") != std::string::npos);
  CHECK(server.monitor().at("zk_server_state") == "standalone");
  CHECK(server.monitor("zk_ephemerals_count") == 0);
  CHECK(exists(server.pid()));
  CHECK(fs::is_directory(server.directory()));
}

TEST_CASE("the options reach the server") {
  const TestServer server{{.tick = 300ms, .jvm_options = {"-Dzookeeper.globalOutstandingLimit=77"}}};
  const auto configuration = server.four_letter_word("conf");
  CHECK(configuration.find("tickTime=300\n") != std::string::npos);
  CHECK(configuration.find("maxClientCnxns=0\n") != std::string::npos);
  std::ifstream command_line{"/proc/" + std::to_string(server.pid()) + "/cmdline"};
  const std::string words{std::istreambuf_iterator<char>{command_line}, {}};
  CHECK(words.find("-Dznode.container.checkIntervalMs=100") != std::string::npos);
  CHECK(words.find("-Dzookeeper.forceSync=no") != std::string::npos);
  CHECK(words.find("-Dzookeeper.globalOutstandingLimit=77") != std::string::npos);
}

TEST_CASE("options that make no sense are refused") {
  CHECK_THROWS_AS((TestServer{{.tick = 0ms}}), std::invalid_argument);
  CHECK_THROWS_AS((TestServer{{.container_check = -1ms}}), std::invalid_argument);
  CHECK_THROWS_AS((TestServer{{.start_timeout = 0ms}}), std::invalid_argument);
  CHECK_THROWS_AS((TestServer{{.jvm_options = {"org.example.Main"}}}), std::invalid_argument);
}

TEST_CASE("data and address survive stop, kill and restart") {
  TestServer server;
  const auto address = server.connect_string();
  REQUIRE(RawClient{server.port()}.create("/kept", 0) == 0);

  const auto end_and_start = GENERATE(0, 1, 2);
  const int pid = server.pid();
  if (end_and_start == 0) server.stop();
  if (end_and_start == 1) server.kill();
  if (end_and_start != 2) {
    CHECK_FALSE(exists(pid));
    CHECK(server.pid() == 0);
    CHECK_THROWS_AS(server.four_letter_word("ruok"), std::runtime_error);
    CHECK(fs::is_directory(server.directory()));
    server.start();
  } else {
    server.restart();
  }
  CHECK(server.pid() != pid);
  CHECK(server.connect_string() == address);
  CHECK(RawClient{server.port()}.has("/kept"));
}

// A server that is killed while it makes a log leaves one, and ends at its start for want of a header (3.8.0:
// EOFException in FileTxnLog; ZOOKEEPER-1621).
TEST_CASE("a server that was killed while it made a new transaction log starts with all its data") {
  TestServer server;
  REQUIRE(RawClient{server.port()}.create("/kept", 0) == 0);
  const fs::path logs = server.directory() / "data" / "version-2";
  const std::string name = "log.7fffffffffffffff";  // behind all others
  const auto leave_log = [&](std::uintmax_t size) {
    std::ofstream{logs / name};
    fs::resize_file(logs / name, size);
  };
  server.kill();
  for (const std::uintmax_t size : {0U, 7U, 15U}) {  // a header has 16 bytes
    INFO(size);
    leave_log(size);
    REQUIRE(error_of([&] { server.start(); }).empty());
    CHECK(RawClient{server.port()}.has("/kept"));
    CHECK_FALSE(fs::exists(logs / name));
    CHECK(fs::file_size(logs / ("headless." + name)) == size);
    server.kill();
  }
  const std::string log{std::istreambuf_iterator<char>{std::ifstream{server.directory() / "server.log"}.rdbuf()}, {}};
  CHECK(log.find("set aside " + name) != std::string::npos);
}

TEST_CASE("only the last transaction log is set aside, and only if it is too short to hold a transaction") {
  const TestServer server;  // its directory goes with it
  const fs::path directory = server.directory() / "of-logs";
  const auto has = [&](const char* name) { return fs::exists(directory / "data" / "version-2" / name); };
  CHECK(zklock::testing::set_aside_headless_log(directory).empty());
  fs::create_directories(directory / "data" / "version-2");
  const auto make = [&](const char* name, std::uintmax_t size) {
    const fs::path file = directory / "data" / "version-2" / name;
    std::ofstream{file};
    fs::resize_file(file, size);
  };
  make("log.9", 3);  // in the middle: not the work of a kill, and for people to look at
  make("log.a1", 16);
  make("snapshot.ff", 0);
  CHECK(zklock::testing::set_aside_headless_log(directory).empty());
  make("log.100", 15);  // numbers, not words, tell which is the last
  CHECK(zklock::testing::set_aside_headless_log(directory) == "log.100");
  CHECK(has("headless.log.100"));
  CHECK((has("log.9") && has("log.a1") && has("snapshot.ff") && !has("log.100")));
  CHECK(zklock::testing::set_aside_headless_log(directory).empty());
}

TEST_CASE("ending a server that is stopped and starting one that runs change nothing") {
  TestServer server;
  const int pid = server.pid();
  server.start();
  CHECK(server.pid() == pid);
  server.stop();
  server.stop();
  server.kill();
  CHECK(server.pid() == 0);
  CHECK_THROWS_AS(server.pause(), std::runtime_error);
}

TEST_CASE("a server that has died on its own can be started again") {
  TestServer server;
  const int pid = server.pid();
  REQUIRE(::kill(pid, SIGKILL) == 0);
  REQUIRE(eventually([&] { return !error_of([&] { server.resume(); }).empty(); }));
  server.start();
  CHECK(server.pid() != pid);
  CHECK_FALSE(exists(pid));
  CHECK(server.four_letter_word("ruok") == "imok");
}

TEST_CASE("a paused server keeps its connections and answers nobody until it is resumed") {
  TestServer server;
  RawClient client{server.port()};
  server.pause();
  for (const auto& task : fs::directory_iterator{"/proc/" + std::to_string(server.pid()) + "/task"})
    CHECK(state_and_parent(task.path()).front() == 'T');
  CHECK(error_of([&] { (void)server.four_letter_word("ruok"); }).find("no answer in time") != std::string::npos);
  server.resume();
  CHECK(server.four_letter_word("ruok") == "imok");
  CHECK(client.create("/after", 0) == 0);
}

TEST_CASE("a paused server can be stopped and killed") {
  TestServer server;
  server.pause();
  server.stop();
  CHECK(server.pid() == 0);
  server.start();
  server.pause();
  server.kill();
  CHECK(server.pid() == 0);
}

TEST_CASE("two servers run side by side") {
  TestServer first;
  TestServer second;
  CHECK(first.port() != second.port());
  CHECK(first.directory() != second.directory());
  REQUIRE(RawClient{first.port()}.create("/here", 0) == 0);
  CHECK_FALSE(RawClient{second.port()}.has("/here"));
  const int pid = second.pid();
  first = std::move(second);
  CHECK(first.pid() == pid);
  CHECK(first.four_letter_word("ruok") == "imok");
}

// A polite program asks without SO_REUSEADDR, as Port does.
Descriptor bound_socket(std::uint16_t port, int reuse_address) {
  Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  REQUIRE(::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &reuse_address, sizeof reuse_address) == 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) socket.reset();
  return socket;
}

TEST_CASE("a port stays reserved while nobody listens on it") {
  std::uint16_t number = 0;
  {
    const zklock::testing::Port port;
    number = port.number();
    CHECK_FALSE(bound_socket(number, 0));
    const auto server = bound_socket(number, 1);
    REQUIRE(server);
    CHECK(::listen(server.get(), 10) == 0);
  }
  CHECK(bound_socket(number, 0));
}

TEST_CASE("a server whose port was taken while it was stopped says so") {
  TestServer server;
  server.stop();
  auto thief = bound_socket(server.port(), 1);
  REQUIRE(::listen(thief.get(), 10) == 0);
  CHECK(error_of([&] { server.start(); }).find("Address already in use") != std::string::npos);
  thief.reset();
  server.start();
  CHECK(server.four_letter_word("ruok") == "imok");
}

TEST_CASE("end_session ends a session and takes its ephemeral nodes away") {
  TestServer server;
  RawClient client{server.port()};
  RawClient other{server.port()};
  REQUIRE(client.create("/ephemeral", ephemeral) == 0);
  REQUIRE(server.monitor("zk_ephemerals_count") == 1);
  server.end_session(client.session().id, client.session().password);
  CHECK(server.monitor("zk_ephemerals_count") == 0);
  CHECK_FALSE(other.has("/ephemeral"));
  const RawClient back{server.port(), client.session()};
  CHECK(back.session().id == 0);
  server.end_session(client.session().id, client.session().password);  // gone already: fine
}

TEST_CASE("end_session ends a session whose client fights for it") {
  TestServer server;
  for (int round = 0; round < 5; ++round) {
    RawClient first{server.port()};
    REQUIRE(first.create("/ephemeral", ephemeral) == 0);
    std::jthread client{[&, session = first.session()](const std::stop_token& stop) {
      while (!stop.stop_requested()) try {
          RawClient again{server.port(), session, 300ms};
          if (again.session().id == 0) return;
          while (again.has("/ephemeral")) continue;
        } catch (const std::runtime_error&) {  // thrown out by the other, or not answered: at once again
        }
    }};
    CHECK(error_of([&] { server.end_session(first.session().id, first.session().password); }) == "");
    CHECK(server.monitor("zk_ephemerals_count") == 0);
  }
}

TEST_CASE("end_session says so when it does not have its way") {
  TestServer server;
  RawClient client{server.port()};
  CHECK(error_of([&] { server.end_session(client.session().id, "wrong"); }).find("password") != std::string::npos);
  const RawClient back{server.port(), client.session()};
  CHECK(back.session().id == client.session().id);
  server.pause();
  CHECK(error_of([&] { server.end_session(client.session().id, client.session().password); }).find("no answer") !=
        std::string::npos);
}

TEST_CASE("four_letter_word and monitor refuse what the server does not know") {
  const TestServer server;
  CHECK_THROWS_AS(server.four_letter_word("ru"), std::invalid_argument);
  CHECK_THROWS_AS(server.four_letter_word("nono"), std::runtime_error);
  CHECK_THROWS_AS(server.monitor("zk_nonsense"), std::runtime_error);
  CHECK_THROWS_AS(server.monitor("zk_version"), std::runtime_error);
}

TEST_CASE("the destructor leaves no process, no directory and no descriptor") {
  const auto before = open_descriptors();
  const auto inheritable = open_descriptors(true);
  int pid = 0;
  int guard = 0;
  fs::path directory;
  const auto ending = GENERATE(0, 1, 2);
  {
    TestServer server;
    pid = server.pid();
    guard = parent(pid);
    directory = server.directory();
    CHECK(open_descriptors(true) == inheritable);
    if (ending == 1) server.pause();
    if (ending == 2) server.stop();
  }
  CHECK_FALSE(exists(pid));
  CHECK_FALSE(exists(guard));
  CHECK_FALSE(fs::exists(directory));
  CHECK(open_descriptors() == before);
  CHECK_FALSE(fs::exists("/tmp/hsperfdata_" + std::to_string(pid)));
}

TEST_CASE("the destructor leaves nothing when somebody has killed the guard") {
  int pid = 0;
  fs::path directory;
  {
    const TestServer server;
    pid = server.pid();
    directory = server.directory();
    REQUIRE(::kill(parent(pid), SIGKILL) == 0);
  }
  CHECK(eventually([&] { return !exists(pid) || state_and_parent(pid).front() == 'Z'; }));
  CHECK_FALSE(fs::exists(directory));
}

TEST_CASE("an owner killed by SIGKILL takes the server and its directory along") {
  const auto last_act = GENERATE(0, 1, 2);  // run, pause, stop
  int line[2]{};
  REQUIRE(::pipe2(line, O_CLOEXEC) == 0);
  const Descriptor input{line[0]};
  Descriptor output{line[1]};
  const int owner = ::fork();
  REQUIRE(owner >= 0);
  if (owner == 0) {  // nothing here may return into the test
    try {
      TestServer server;
      const std::string report =
          std::to_string(server.pid()) + " " + std::to_string(parent(server.pid())) + " " + server.directory().string();
      if (last_act == 1) server.pause();
      if (last_act == 2) server.stop();
      if (::write(output.get(), report.data(), report.size()) > 0)
        while (true) ::pause();
    } catch (...) {
    }
    ::_exit(1);
  }
  output.reset();
  std::string report(4096, '\0');
  const auto size = ::read(input.get(), report.data(), report.size());
  REQUIRE(size > 0);
  report.resize(static_cast<std::size_t>(size));
  std::istringstream words{report};
  int pid = 0;
  int guard = 0;
  std::string directory;
  words >> pid >> guard >> directory;
  REQUIRE(exists(pid) == (last_act != 2));
  REQUIRE(fs::is_directory(directory));
  REQUIRE(::kill(owner, SIGKILL) == 0);
  REQUIRE(::waitpid(owner, nullptr, 0) == owner);
  CHECK(eventually([&] { return !exists(pid) && !fs::exists(directory); }));
  // Whoever inherits the guard reaps it, or does not.
  CHECK(eventually([&] { return !exists(guard) || state_and_parent(guard).front() == 'Z'; }));
}

TEST_CASE("a server obeys although its owner's thread blocks all signals") {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  REQUIRE(::pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
  const auto term = std::signal(SIGTERM, SIG_IGN);
  TestServer server;
  const auto error = error_of([&] { server.stop(); });
  std::signal(SIGTERM, term);
  sigset_t mask;
  REQUIRE(::pthread_sigmask(SIG_SETMASK, &before, &mask) == 0);
  CHECK(error.empty());
  CHECK(::sigismember(&mask, SIGUSR1) == 1);
}

TEST_CASE("a machine without Java or without ZooKeeper's classes gets a clear error at once") {
  const auto begin = std::chrono::steady_clock::now();
  const auto no_classes = error_of([] { TestServer server{{.classpath = "/nonexistent.jar"}}; });
  CHECK(no_classes.find("Could not find or load main class") != std::string::npos);
  CHECK(no_classes.find("ZKLOCK_TEST_CLASSPATH") != std::string::npos);

  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  const auto no_java = error_of([] { TestServer server; });
  ::setenv("PATH", path.c_str(), 1);
  CHECK(no_java.find("java: ") != std::string::npos);  // the rest is the shell's
  CHECK(no_java.find("ZKLOCK_TEST_CLASSPATH") != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - begin < 5s);
}

TEST_CASE("a server that does not come up in time is given up") {
  CHECK(error_of([] { TestServer server{{.start_timeout = 20ms}}; }).find("within 20 ms") != std::string::npos);
}
