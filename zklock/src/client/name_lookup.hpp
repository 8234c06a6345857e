// Looks up the addresses of a name with the system's resolver, asynchronously.
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

/// The system's resolver blocks, for ten seconds and more, and cannot be interrupted. So each look-up has a thread of
/// its own, for which nothing waits. When the thread returns, its answer is still wanted, or it finds nothing of the
/// client's.
///
/// Threads: any; a mutex.
class NameLookup : public std::enable_shared_from_this<NameLookup> {
 public:
  using Addresses = std::vector<std::string>;  // numeric

  /// `answered` is called on the executor; without addresses if there is no such name or no name service.
  NameLookup(const asio::any_io_executor& executor, std::function<void(std::optional<Addresses>)> answered);

  void start(std::string name);
  /// To be called when the answer has come or is not wanted any more. Waits until the thread has released the executor,
  /// which may then be destroyed.
  void abandon();

 private:
  void answer(std::optional<Addresses> addresses);

  std::mutex mutex_;
  asio::any_io_executor executor_;  // with outstanding work until the look-up is answered or abandoned
  std::function<void(std::optional<Addresses>)> answered_;
};

}  // namespace zklock
