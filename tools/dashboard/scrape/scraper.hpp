// Reads the services' metrics.
#pragma once

#include "quantiles.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zklock::tools {

/// "http://host:port/path"
struct ScrapeTarget {
  std::string url;
  std::string host;
  std::string port;
  std::string path;
};

/// Throws Failure if it is no such URL.
[[nodiscard]] ScrapeTarget parse_target(const std::string& url);

struct ScrapeLimits {
  std::chrono::milliseconds interval{5'000};
  std::chrono::milliseconds fetch{4'000};       ///< a target that takes longer is not heard
  std::uint64_t page_bytes = 16 * 1024 * 1024;  ///< nor is one with a larger page
};

/// Fetches each target once an interval, and gives the plots as JSON: {"plots": [...], "reached": 1, "targets": 2}.
///
/// Threads: that of the executor, which must run one function at a time. Ends with the executor's work.
class Scraper : public std::enable_shared_from_this<Scraper> {
 public:
  Scraper(boost::asio::any_io_executor executor, std::vector<ScrapeTarget> targets,
          std::function<void(std::string)> publish, ScrapeLimits limits = {});
  void start();
  void stop() { stopped_ = true; }

 private:
  static boost::asio::awaitable<void> run(std::shared_ptr<Scraper> self);
  static boost::asio::awaitable<void> fetch(std::shared_ptr<Scraper> self, ScrapeTarget target);
  [[nodiscard]] std::string plots() const;

  boost::asio::any_io_executor executor_;
  std::vector<ScrapeTarget> targets_;
  std::function<void(std::string)> publish_;
  ScrapeLimits limits_;
  QuantileHistory wait_{"zklock_acquire_wait_seconds"};
  QuantileHistory hold_{"zklock_hold_seconds"};
  std::size_t reached_ = 0;  ///< targets, in this interval
  bool stopped_ = false;
};

}  // namespace zklock::tools
