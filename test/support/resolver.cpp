#include "resolver.hpp"

#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>

namespace zklock::test {
namespace {

struct Names {
  std::mutex mutex;
  std::map<std::string, std::vector<std::string>> addresses;
  std::map<std::string, int> look_ups;
  std::set<std::string> held;
  std::condition_variable released;
};

/// Lives for ever: a look-up may outlive the test, and main.
Names& names() {
  static Names& all = *new Names;
  return all;
}

}  // namespace

FakeNames::FakeNames() = default;

FakeNames::~FakeNames() {
  const std::lock_guard lock{names().mutex};
  names().addresses.clear();
  names().look_ups.clear();
  names().held.clear();
  names().released.notify_all();
}

void FakeNames::set(const std::string& name, std::vector<std::string> addresses) {
  const std::lock_guard lock{names().mutex};
  names().addresses[name] = std::move(addresses);
}

void FakeNames::fail(const std::string& name) {
  const std::lock_guard lock{names().mutex};
  names().addresses.erase(name);
}

void FakeNames::hold(const std::string& name) {
  const std::lock_guard lock{names().mutex};
  names().held.insert(name);
}

void FakeNames::release(const std::string& name) {
  const std::lock_guard lock{names().mutex};
  names().held.erase(name);
  names().released.notify_all();
}

int FakeNames::look_ups(const std::string& name) const {
  const std::lock_guard lock{names().mutex};
  return names().look_ups[name];
}

}  // namespace zklock::test

/// The test program's own function, which the library's look-ups call.
extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** result) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto system = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  const std::string name = node ? node : "";
  if (!name.ends_with(".test")) return system(node, service, hints, result);

  auto& names = zklock::test::names();
  std::unique_lock lock{names.mutex};
  ++names.look_ups[name];
  names.released.wait(lock, [&] { return !names.held.contains(name); });
  const auto found = names.addresses.find(name);
  if (found == names.addresses.end() || found->second.empty()) return EAI_NONAME;
  *result = nullptr;
  for (auto address = found->second.rbegin(); address != found->second.rend(); ++address) {
    addrinfo numeric{};
    numeric.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    numeric.ai_socktype = SOCK_STREAM;
    addrinfo* one = nullptr;
    if (const int error = system(address->c_str(), service, &numeric, &one)) return error;
    addrinfo* last = one;
    while (last->ai_next) last = last->ai_next;
    last->ai_next = *result;
    *result = one;
  }
  return 0;
}
