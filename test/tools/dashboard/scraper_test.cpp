// Which of the services' pages are read.
#include "dashboard/scrape/scraper.hpp"

#include "http_server.hpp"
#include "support/catch.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <memory>
#include <string>

using namespace zklock::tools;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t max_bytes = 100'000;

/// Its pages: /small is as large as a page may be here, /large has a byte more.
class Service : public zklock::web::WebHandler {
 public:
  boost::asio::awaitable<zklock::web::WebReply> answer(zklock::web::WebRequest request) override {
    const bool is_large = request.path == "/large";
    asked_for_large_ += is_large ? 1 : 0;
    const std::string first = "zklock_hold_seconds_bucket{le=\"1\"} 1\n#";
    const std::size_t bytes = max_bytes + (is_large ? 1 : 0);
    co_return zklock::web::plain_text(200, first + std::string(bytes - first.size() - 1, 'x'));
  }
  [[nodiscard]] int asked_for_large() const noexcept { return asked_for_large_; }

 private:
  int asked_for_large_ = 0;
};

}  // namespace

TEST_CASE("a page as large as the limit is read, a larger one is not") {
  CHECK(ScrapeLimits{}.page_bytes == 16 * 1024 * 1024);
  boost::asio::io_context context{1};
  const auto service = std::make_shared<Service>();
  const auto server =
      std::make_shared<zklock::web::HttpServer>(context.get_executor(), "127.0.0.1", std::uint16_t{0}, service);
  server->start();
  const std::string url = "http://127.0.0.1:" + std::to_string(server->port());
  int intervals = 0;
  bool has_read_one = false;
  bool has_read_both = false;
  const auto scraper = std::make_shared<Scraper>(
      context.get_executor(), std::vector{parse_target(url + "/small"), parse_target(url + "/large")},
      [&](const std::string& plots) {
        ++intervals;
        has_read_one = has_read_one || plots.find("\"reached\":1,\"targets\":2") != std::string::npos;
        has_read_both = has_read_both || plots.find("\"reached\":2") != std::string::npos;
      },
      ScrapeLimits{.interval = 500ms, .page_bytes = max_bytes});
  scraper->start();
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while ((!has_read_one || intervals < 2) && std::chrono::steady_clock::now() < deadline) context.run_one_for(100ms);
  CHECK(has_read_one);
  CHECK_FALSE(has_read_both);
  CHECK(service->asked_for_large() >= 2);
  scraper->stop();
  server->stop();
  context.run();
}
