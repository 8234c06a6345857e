// One name and the addresses that it means, asked of the system without waiting for it.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace zklock {

namespace asio = boost::asio;

/// The system's resolver blocks, for ten seconds and more, and cannot be interrupted. So each look-up has a thread to
/// itself, which nobody waits for: when it comes back it finds that its answer is still wanted, or nothing of ours.
///
/// Threads: any; a mutex.
class NameLookup : public std::enable_shared_from_this<NameLookup> {
 public:
  using Addresses = std::vector<std::string>;  // numeric

  /// `answered` is called on the executor; none: there is no such name, or nobody to ask.
  NameLookup(const asio::any_io_executor& executor, std::function<void(std::optional<Addresses>)> answered);

  void start(std::string name);
  /// The answer is not wanted any more, or is there: waits until the thread has let go of the executor, which may go
  /// then.
  void abandon();

 private:
  void answer(std::optional<Addresses> addresses);

  std::mutex mutex_;
  asio::any_io_executor executor_;  // with work for it to do, until it is answered or abandoned
  std::function<void(std::optional<Addresses>)> answered_;
};

}  // namespace zklock
