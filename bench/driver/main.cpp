// Runs one subject with one task, as often as its input says "run RAMP_MS MS". Each time it prints "begin" and "end"
// around the counted part, and then one line of JSON. The drivers in other languages do the same.
#include "special.hpp"
#include "subject.hpp"
#include "usage.hpp"

#include <chrono>
#include <iostream>
#include <sstream>
#include <thread>

namespace zklock::bench {
namespace {

void say(const std::string& line) { std::cout << line << std::endl; }

void run(Subject& subject, std::chrono::milliseconds ramp, std::chrono::milliseconds length) {
  Window window;
  for (Tallies* tallies : subject.tallies()) tallies->clear();
  subject.start(window);
  std::this_thread::sleep_for(ramp);
  say("begin");
  const double cpu_before = cpu_seconds();
  const auto began = Clock::now();
  window.count(true);
  std::this_thread::sleep_for(length);
  window.count(false);
  const std::chrono::duration<double> lasted = Clock::now() - began;
  const double cpu = cpu_seconds() - cpu_before;
  say("end");
  window.stop();
  subject.join();
  std::ostringstream line;
  line << R"({"seconds": )" << lasted.count() << R"(, "cpu_seconds": )" << cpu;
  for (const Tallies* tallies : subject.tallies()) {
    if (tallies->empty()) continue;
    const auto latencies = tallies->quantiles({0.5, 0.99});
    line << ", \"" << tallies->name() << R"(": {"cycles": )" << tallies->cycles() << R"(, "p50_us": )" << latencies[0]
         << R"(, "p99_us": )" << latencies[1] << "}";
  }
  line << "}";
  say(line.str());
}

void obey_orders(Subject& subject) {
  say("ready");
  for (std::string order; std::getline(std::cin, order);) {
    std::istringstream words{order};
    std::string verb;
    int ramp = 0;
    int length = 0;
    if (!(words >> verb >> ramp >> length) || verb != "run") throw std::invalid_argument{"what is '" + order + "'?"};
    run(subject, std::chrono::milliseconds{ramp}, std::chrono::milliseconds{length});
  }
}

std::unique_ptr<Subject> make_subject(const std::string& name, const Task& task) {
  for (const auto make : {make_zklock, make_raw, make_blocking})
    if (auto subject = make(name, task)) return subject;
  throw std::invalid_argument{"there is no subject '" + name + "' for this task"};
}

}  // namespace
}  // namespace zklock::bench

int main(int argc, char** argv) {
  using namespace zklock::bench;
  try {
    if (argc < 2) throw std::invalid_argument{"usage: zklock_bench SUBJECT KEY=VALUE..."};
    const std::string name = argv[1];
    const Task task = parse_task({argv + 2, argv + argc});
    if (name == "hold") {
      hold(task);
    } else if (name == "crowd") {
      crowd(task);
    } else {
      obey_orders(*make_subject(name, task));
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "zklock_bench: " << error.what() << "\n";
    return 1;
  }
}
