// An audit log whose sinks are slow, fail or are many.
#include "audit_queue.hpp"
#include "support/audit_lines.hpp"
#include "support/catch.hpp"
#include "support/temporary_directory.hpp"

#include <spdlog/sinks/basic_file_sink.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <fstream>
#include <future>
#include <stdexcept>
#include <thread>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace zklock;
using namespace std::chrono_literals;
using zklock::test::AuditLines;
using zklock::test::LineSink;

namespace {

LockEvent granted(std::uint64_t attempt) {
  return {.phase = LockPhase::granted, .attempt = attempt, .path = "/locks/a", .waited = 1ms};
}

/// The numbers of the records, and how many others the records "audit.dropped" tell of.
struct Sequence {
  explicit Sequence(const std::vector<std::string>& lines) {
    std::int64_t last = 0;
    for (const auto& record : AuditLines{lines}.all()) {
      const std::int64_t number = record.at("event.sequence").as_int64();
      is_in_order = is_in_order && number > last;
      missing += number - last - 1;
      last = number;
      if (record.at("event.action") == "audit.dropped") reported += record.at("zklock.dropped").as_int64();
    }
  }
  bool is_in_order = true;
  std::int64_t missing = 0;
  std::int64_t reported = 0;
};

/// Holds up the audit log's thread until it is opened.
class Gate {
 public:
  void pass() {
    std::unique_lock lock{mutex_};
    is_reached_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_; });
  }
  void await_reached() {
    std::unique_lock lock{mutex_};
    REQUIRE(changed_.wait_for(lock, 10s, [this] { return is_reached_; }));
  }
  void open() {
    const std::lock_guard lock{mutex_};
    is_open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_reached_ = false;
  bool is_open_ = false;
};

/// The process's files cannot grow beyond `size`: a write gets as far as that, the next one fails, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t size) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit full{size, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &full) == 0);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*signal_)(int) = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before_{};
};

bool comes(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (!condition() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  return condition();
}

}  // namespace

TEST_CASE("a sink that blocks holds up nobody: what does not fit is dropped, counted and told") {
  Gate gate;
  const auto sink = std::make_shared<LineSink>();
  sink->on_line = [&](std::string_view) { gate.pass(); };
  constexpr std::uint64_t room = 64;
  constexpr std::uint64_t too_many = 1'000;
  {
    AuditLog log{{.sinks = {sink}, .queue_size = room}};
    log.on_lock({.phase = LockPhase::lost, .path = "/locks/a"});  // written at once
    gate.await_reached();
    for (std::uint64_t i = 1; i < room + too_many; ++i) log.on_lock(granted(i));
    CHECK(log.records() == 0);
    CHECK(log.dropped() == too_many);
    gate.open();
    CHECK(comes([&] { return log.records() == room + 1; }));  // and the record of the drop
    for (std::uint64_t i = 0; i < 10; ++i) log.on_lock(granted(i));
  }
  const auto lines = sink->lines();
  CHECK(lines.size() == room + 1 + 10);
  const Sequence sequence{lines};
  CHECK(sequence.is_in_order);
  CHECK(sequence.missing == too_many);
  CHECK(sequence.reported == too_many);
  const auto told = AuditLines{lines}.with("event.action", "audit.dropped").all();
  REQUIRE(told.size() == 1);
  CHECK(told[0].at("message") == "1000 records were dropped");
  CHECK(told[0].at("log.level") == "warn");
}

TEST_CASE("records of several threads are in the order of their numbers, and the gaps are what was dropped") {
  const auto sink = std::make_shared<LineSink>();
  std::uint64_t records = 0;
  std::uint64_t dropped = 0;
  constexpr std::uint64_t each = 5'000;
  {
    AuditLog log{{.sinks = {sink}, .queue_size = 100}};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&log] {
        for (std::uint64_t n = 0; n < each; ++n) log.on_lock(granted(n + 1));
      });
    for (auto& thread : threads) thread.join();
    dropped = log.dropped();
    CHECK(comes([&] {
      records = log.records();
      return records + dropped >= 4 * each;
    }));
  }
  const Sequence sequence{sink->lines()};
  CHECK(sequence.is_in_order);
  CHECK(sequence.missing == static_cast<std::int64_t>(dropped));
  CHECK(sequence.reported == static_cast<std::int64_t>(dropped));
}

TEST_CASE("a loss and a grant are written and flushed") {
  const auto sink = std::make_shared<LineSink>();
  AuditLog log{{.sinks = {sink}}};
  SECTION("a loss") {
    log.on_lock(granted(1));
    log.on_lock({.phase = LockPhase::lost, .path = "/locks/a"});
    CHECK(comes([&] { return sink->flushes() == 2; }));
    CHECK(sink->lines().size() == 2);
  }
  SECTION("a grant") {
    log.on_lock(granted(1));
    CHECK(comes([&] { return sink->flushes() == 1; }));
    CHECK(sink->lines().size() == 1);
  }
}

TEST_CASE("the queue's reader waits for a period, but not with an urgent record, half of the queue, or at the end") {
  detail::AuditQueue queue{8, std::chrono::hours{1}};
  const auto push = [&](detail::AuditUrgency urgency, int number) {
    for (int i = 0; i < number; ++i) queue.push(urgency, [](detail::AuditRecord& record) { record.assign_dropped(1); });
  };
  std::size_t expected = 0;
  SECTION("an urgent record") {
    push(detail::AuditUrgency::usual, 1);
    push(detail::AuditUrgency::at_once, 1);
    expected = 2;
  }
  SECTION("half of the queue") {
    push(detail::AuditUrgency::usual, 4);
    expected = 4;
  }
  SECTION("the end") {
    push(detail::AuditUrgency::usual, 1);
    queue.close();
    expected = 1;
  }
  SECTION("a period that has not passed") { push(detail::AuditUrgency::usual, 1); }
  auto batch = std::async(std::launch::async, [&] { return queue.wait(); });
  const bool is_ready = batch.wait_for(expected > 0 ? 30s : 50ms) == std::future_status::ready;
  queue.close();
  CHECK(is_ready == (expected > 0));
  CHECK(batch.get() == std::max<std::size_t>(expected, 1));
}

TEST_CASE("a sink that throws harms neither the others nor the log") {
  const auto broken = std::make_shared<LineSink>();
  const auto sound = std::make_shared<LineSink>();
  std::atomic<bool> is_broken{true};
  broken->on_line = [&](std::string_view) {
    if (is_broken) throw std::runtime_error{"disk full"};
  };
  {
    AuditLog log{{.sinks = {broken, sound}}};
    log.on_lock(granted(1));
    log.on_lock({.phase = LockPhase::lost, .path = "/locks/a"});
    CHECK(comes([&] { return log.dropped() == 2; }));
    is_broken = false;
    log.on_lock(granted(2));
  }
  CHECK(AuditLines{sound->lines()}.story() == "granted lost granted audit.dropped");
  CHECK(AuditLines{broken->lines()}.story() == "granted audit.dropped");
  CHECK(Sequence{broken->lines()}.missing == 2);
}

TEST_CASE("what a sink has not been told is told when it takes records again") {
  const auto sink = std::make_shared<LineSink>();
  int failures = 0;
  sink->on_line = [&](std::string_view line) {
    const bool is_first = line.find("\"event.sequence\":1,") != std::string_view::npos;
    const bool is_notice = line.find("audit.dropped") != std::string_view::npos;
    if ((is_first || is_notice) && ++failures <= 2) throw std::runtime_error{"disk full"};
  };
  {
    AuditLog log{{.sinks = {sink}}};
    log.on_lock(granted(1));
    log.on_lock({.phase = LockPhase::lost, .path = "/locks/a"});  // the record of the drop follows, and fails
    CHECK(comes([&] { return log.dropped() == 2; }));
    log.on_lock(granted(2));
  }
  const Sequence sequence{sink->lines()};
  CHECK(sequence.missing == 2);
  CHECK(sequence.reported == 2);
}

TEST_CASE("an audit log whose sinks always throw comes to its end") {
  const auto sink = std::make_shared<LineSink>();
  sink->on_line = [](std::string_view) { throw 7; };
  AuditLog log{{.sinks = {sink}}};
  for (std::uint64_t i = 0; i < 1'000; ++i) log.on_lock(granted(i));
}

TEST_CASE("all records are in the file at the end, after those of an earlier process") {
  const test::TemporaryDirectory directory;
  const std::string file = directory.file("audit.json");
  for (int run = 0; run < 2; ++run) {
    AuditLog log{{.file = file}};
    for (std::uint64_t i = 0; i < 1'000; ++i) log.on_lock(granted(i));
  }
  std::ifstream stream{file};
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  CHECK(AuditLines{lines}.all().size() == 2'000);
}

TEST_CASE("a record begins a line after that within which an earlier process was killed") {
  const test::TemporaryDirectory directory;
  const std::string file = directory.file("audit.json");
  std::ofstream{file} << "{\"torn";
  for (std::uint64_t run = 1; run <= 2; ++run) {
    AuditLog log{{.file = file}};
    log.on_lock(granted(run));
  }
  std::ifstream stream{file};
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "{\"torn");
  CHECK(AuditLines{{lines[1], lines[2]}}.all().size() == 2);
}

TEST_CASE("of a file that is full for a while each record is there or counted as dropped, and no two share a line") {
  const test::TemporaryDirectory directory;
  const std::string file = directory.file("audit.json");
  constexpr std::uint64_t each = 100;
  std::uint64_t records = 0;
  std::uint64_t dropped = 0;
  {
    AuditLog log{{.file = file}};
    std::uint64_t told = 0;
    const auto tell = [&] {
      for (std::uint64_t i = 0; i < each; ++i) log.on_lock(granted(++told));
      log.on_lock({.phase = LockPhase::lost, .attempt = ++told, .path = "/locks/a"});  // written at once
    };
    for (int round = 1; round <= 2; ++round) {
      {
        const FullDisk full{static_cast<rlim_t>(round) * 10'001};  // in the middle of a record
        tell();
        CHECK(comes([&] { return log.records() + log.dropped() >= told; }));
        dropped = log.dropped();
        CHECK(dropped > 0);
        tell();
        CHECK(comes([&] { return log.records() + log.dropped() >= told; }));
        CHECK(log.dropped() >= dropped + each);
      }
      tell();
      CHECK(comes([&] { return log.records() + log.dropped() >= told; }));
    }
    log.on_lock(granted(++told));
    CHECK(comes([&] { return log.records() + log.dropped() >= told + 2; }));  // and two records of drops
    records = log.records();
    dropped = log.dropped();
  }
  std::ifstream stream{file};
  std::vector<std::string> whole;
  int torn = 0;
  for (std::string line; std::getline(stream, line);) line.ends_with('}') ? whole.push_back(line) : void(++torn);
  CHECK(torn <= 2);
  CHECK(whole.size() == records);
  const Sequence sequence{whole};
  CHECK(sequence.is_in_order);
  CHECK(sequence.missing == static_cast<std::int64_t>(dropped));
  CHECK(sequence.reported == static_cast<std::int64_t>(dropped));
}

TEST_CASE("a sink that keeps what it is given, and fails when it is to write it, has dropped it") {
  AuditLog log{{.sinks = {std::make_shared<spdlog::sinks::basic_file_sink_st>("/dev/full")}}};
  log.on_lock(granted(1));
  log.on_lock({.phase = LockPhase::lost, .path = "/locks/a"});
  CHECK(comes([&] { return log.dropped() == 2; }));
  CHECK(log.records() == 0);
}

TEST_CASE("a forked child that destroys an audit log neither waits nor writes") {
  const auto sink = std::make_shared<LineSink>();
  auto log = std::make_unique<AuditLog>(AuditOptions{.sinks = {sink}});
  log->on_lock({.phase = LockPhase::lost, .path = "/locks/a"});
  REQUIRE(comes([&] { return sink->flushes() == 1; }));  // its thread waits for the next one
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    log.reset();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  log.reset();
  CHECK(sink->lines().size() == 1);
}

TEST_CASE("an audit log that cannot work is refused") {
  CHECK_THROWS_AS(AuditLog{AuditOptions{}}, std::invalid_argument);
  CHECK_THROWS_AS(AuditLog{AuditOptions{.sinks = {nullptr}}}, std::invalid_argument);
  CHECK_THROWS_AS((AuditLog{AuditOptions{.sinks = {std::make_shared<LineSink>()}, .queue_size = 0}}),
                  std::invalid_argument);
  CHECK_THROWS(AuditLog{AuditOptions{.file = "/proc/no such file"}});
}
