#include "server_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zklock::testing {
namespace {

constexpr std::chrono::seconds answer_limit{10};

// The process is reaped only on request, so that its id stays valid. PIPE: an owner that ends before it has read an
// answer must not end the guard.
constexpr const char* guard_script = R"(
trap '' PIPE
directory=$1; shift
/bin/mkdir -m 700 -- "$directory" || exit
echo $$
while read -r order; do
  case $order in
    start) "$@" </dev/null >>"$directory/server.log" 2>&1 & server=$!; echo $server ;;
    reap)  wait $server; echo $?; server= ;;
  esac
done
if [ -n "$server" ]; then kill -KILL $server; wait $server; fi
/bin/rm -rf -- "$directory"
)";

// Two connected sockets, neither of them among the standard streams, which the host may have closed.
std::array<Descriptor, 2> socket_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) throw_errno("socketpair");
  std::array<Descriptor, 2> pair{Descriptor{ends[0]}, Descriptor{ends[1]}};
  for (auto& end : pair)
    if (end.get() <= STDERR_FILENO) end = Descriptor{::fcntl(end.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
  if (!pair[0] || !pair[1]) throw_errno("fcntl");
  return pair;
}

void check(int error, const char* what) {
  if (error != 0) throw std::system_error{error, std::generic_category(), what};
}

// The server gets a session of its own, so that Ctrl-C does not reach it before its owner. It gets default signals and
// no other descriptor of the host, whatever the calling thread has.
class SpawnPlan {
 public:
  explicit SpawnPlan(const Descriptor& line) {
    check(::posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init");
    check(::posix_spawnattr_init(&attributes_), "posix_spawnattr_init");
    check(::posix_spawn_file_actions_adddup2(&actions_, line.get(), STDIN_FILENO), "adddup2");
    check(::posix_spawn_file_actions_adddup2(&actions_, line.get(), STDOUT_FILENO), "adddup2");
    check(::posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0), "addopen");
    check(::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1), "addclosefrom");
    sigset_t signals;
    ::sigemptyset(&signals);
    check(::posix_spawnattr_setsigmask(&attributes_, &signals), "setsigmask");
    ::sigfillset(&signals);
    check(::posix_spawnattr_setsigdefault(&attributes_, &signals), "setsigdefault");
    constexpr int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID;
    check(::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags)), "setflags");
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  [[nodiscard]] int run(std::vector<std::string> words) const {
    std::vector<char*> arguments;
    std::ranges::transform(words, std::back_inserter(arguments), [](std::string& word) { return word.data(); });
    arguments.push_back(nullptr);
    pid_t pid = 0;
    check(::posix_spawn(&pid, "/bin/sh", &actions_, &attributes_, arguments.data(), environ), "posix_spawn /bin/sh");
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

void send_signal(const Descriptor& process, int number) {
  if (::syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0) != 0 && errno != ESRCH)
    throw_errno("pidfd_send_signal");
}

// "pid (name) state ...": the name may contain any character.
bool is_stopped(const std::filesystem::path& task) {
  std::string stat;
  std::getline(std::ifstream{task / "stat"}, stat);
  const auto end_of_name = stat.rfind(") ");
  return end_of_name != std::string::npos && stat.compare(end_of_name + 2, 1, "T") == 0;
}

}  // namespace

ServerProcess::ServerProcess(std::filesystem::path directory, const std::vector<std::string>& command)
    : directory_{std::move(directory)} {
  auto [ours, theirs] = socket_pair();
  std::vector<std::string> words{"sh", "-c", guard_script, "zklock-guard", directory_.string()};
  words.insert(words.end(), command.begin(), command.end());
  guard_pid_ = SpawnPlan{theirs}.run(std::move(words));
  socket_ = std::move(ours);
  theirs.reset();
  try {
    (void)answer();
  } catch (const std::exception& error) {
    end_guard();
    throw std::runtime_error{"cannot make the directory " + directory_.string() + ": " + error.what()};
  }
}

ServerProcess::~ServerProcess() {
  try {
    if (started()) send_signal(process_, SIGKILL);  // the guard does it, too, unless the guard was killed
  } catch (const std::exception&) {                 // a destructor cannot report it
  }
  end_guard();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);  // as above
}

void ServerProcess::end_guard() noexcept {
  socket_.reset();
  while (::waitpid(guard_pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void ServerProcess::start() {
  pid_ = order("start\n");
  process_ = Descriptor{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))};  // close-on-exec by itself
  if (process_) return;
  if (errno == ESRCH) {  // the shell reaps on its own, such as bash, and the command ended at once
    reap();
    return;
  }
  socket_.reset();  // the process cannot be watched: the guard ends it
  throw_errno("pidfd_open");
}

void ServerProcess::signal(int number) const { send_signal(process_, number); }

bool ServerProcess::wait_stopped(Deadline deadline) const {
  const auto tasks = std::filesystem::path{"/proc"} / std::to_string(pid_) / "task";
  while (!std::ranges::all_of(std::filesystem::directory_iterator{tasks}, is_stopped))
    if (std::chrono::steady_clock::now() >= deadline || wait_end(after(std::chrono::milliseconds{1}))) return false;
  return true;
}

bool ServerProcess::wait_end(Deadline deadline) const { return wait_ready(process_, POLLIN, deadline); }

int ServerProcess::reap() {
  const int status = order("reap\n");
  process_.reset();
  pid_ = 0;
  return status;
}

int ServerProcess::order(std::string_view word) {
  send_all(socket_, word, after(answer_limit));
  return answer();
}

int ServerProcess::answer() {
  const auto deadline = after(answer_limit);
  std::string line;
  while (!line.ends_with('\n')) {
    const auto bytes = receive_some(socket_, 64, deadline);
    if (bytes.empty()) throw std::runtime_error{"the guard of the server has died"};
    line += bytes;
  }
  return std::stoi(line);
}

}  // namespace zklock::testing
