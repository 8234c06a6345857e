#include "name_lookup.hpp"

#include "block_signals.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <array>
#include <system_error>
#include <thread>
#include <utility>

#include <netdb.h>
#include <sys/socket.h>

namespace zklock {

namespace {

std::optional<NameLookup::Addresses> resolve(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{found, &::freeaddrinfo};
  NameLookup::Addresses addresses;
  std::array<char, NI_MAXHOST> text{};
  for (const addrinfo* each = found; each; each = each->ai_next)
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0)
      addresses.emplace_back(text.data());
  return addresses;
}

}  // namespace

NameLookup::NameLookup(const asio::any_io_executor& executor, std::function<void(std::optional<Addresses>)> answered)
    : executor_{asio::prefer(executor, asio::execution::outstanding_work.tracked)}, answered_{std::move(answered)} {}

void NameLookup::start(std::string name) {
  const BlockSignals blocked;
  try {
    std::thread{[self = shared_from_this(), name = std::move(name)] { self->answer(resolve(name)); }}.detach();
  } catch (const std::system_error&) {  // out of threads
    answer({});
  }
}

/// The executor exists until abandon() has cleared it here, and so while this function holds the mutex.
void NameLookup::answer(std::optional<Addresses> addresses) {
  const std::lock_guard lock{mutex_};
  if (!executor_) return;
  asio::post(executor_, [answered = std::exchange(answered_, {}), addresses = std::move(addresses)]() mutable {
    answered(std::move(addresses));
  });
  executor_ = {};
}

void NameLookup::abandon() {
  const std::lock_guard lock{mutex_};
  executor_ = {};
  answered_ = {};
}

}  // namespace zklock
