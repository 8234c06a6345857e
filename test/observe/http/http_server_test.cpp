// Streams of the HTTP server, with short limits. Its replies: observe/metrics/server_test.cpp.
#include "http_server.hpp"

#include "support/catch.hpp"
#include "support/http_client.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

using namespace zklock::web;
using namespace zklock::test;
using namespace std::chrono_literals;

namespace {

/// Each stream has what `next` gives.
class Source : public WebHandler {
 public:
  explicit Source(std::function<std::string()> next) : next_{std::move(next)} {}
  boost::asio::awaitable<WebReply> answer(WebRequest) override { co_return plain_text(200, "ok"); }
  std::unique_ptr<EventSource> open_stream(const WebRequest&) override { return std::make_unique<Events>(*this); }
  /// Waits until there are so many streams.
  [[nodiscard]] bool comes_to_have(int streams) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, 20s, [&] { return streams_ == streams; });
  }

 private:
  struct Events : EventSource {
    explicit Events(Source& of) : source{of} { source.add(1); }
    ~Events() override { source.add(-1); }
    std::string next() override { return source.next_(); }
    Source& source;
  };

  void add(int streams) {
    const std::lock_guard lock{mutex_};
    streams_ += streams;
    changed_.notify_all();
  }

  std::function<std::string()> next_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int streams_ = 0;
};

class Served {
 public:
  Served(std::function<std::string()> next, HttpLimits limits)
      : source_{std::make_shared<Source>(std::move(next))},
        server_{std::make_shared<HttpServer>(context_.get_executor(), "127.0.0.1", std::uint16_t{0}, source_, limits)} {
    server_->start();
    thread_ = std::thread{[this] { context_.run(); }};
  }
  ~Served() {
    boost::asio::post(context_, [this] { server_->stop(); });
    thread_.join();
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  [[nodiscard]] std::unique_ptr<HttpConnection> stream() const {
    auto connection = std::make_unique<HttpConnection>(server_->port());
    connection->say("GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return connection;
  }
  [[nodiscard]] bool comes_to_have(int streams) const { return source_->comes_to_have(streams); }

 private:
  boost::asio::io_context context_{1};
  std::shared_ptr<Source> source_;
  std::shared_ptr<HttpServer> server_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a viewer that does not take its events for the time of a request is ended, and another one has its place") {
  const Served served{[] { return std::string(1'000'000, 'x'); },
                      {.streams = 1, .request_time = 300ms, .stream_pause = 1ms}};
  const auto began = std::chrono::steady_clock::now();
  const auto stalled = served.stream();
  CHECK(stalled->until("\r\n\r\n").starts_with("HTTP/1.1 200 "));
  CHECK(served.comes_to_have(0));
  CHECK(std::chrono::steady_clock::now() - began >= 300ms);
  CHECK(served.stream()->until("\r\n").starts_with("HTTP/1.1 200 "));
}

TEST_CASE("a viewer that goes is noticed though nothing is written to it") {
  const Served served{[] { return std::string{}; }, {.streams = 1, .stream_pause = 1h, .stream_silence = 1h}};
  auto viewer = served.stream();
  CHECK(viewer->until("\r\n\r\n").starts_with("HTTP/1.1 200 "));
  viewer.reset();
  CHECK(served.comes_to_have(0));
  CHECK(served.stream()->until("\r\n").starts_with("HTTP/1.1 200 "));
}

TEST_CASE("a viewer that takes its events in time stays") {
  const Served served{[] { return std::string(1'000, 'x') + "\n\n"; }, {.request_time = 100ms, .stream_pause = 5ms}};
  const auto viewer = served.stream();
  const auto began = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - began < 400ms) REQUIRE_FALSE(viewer->until("x\n\n").empty());
  CHECK(served.comes_to_have(1));
}

TEST_CASE("a stream without events says so again and again, and one with events does not") {
  const std::string comment = "3\r\n:\n\n\r\n";  // a chunk
  SECTION("silent") {
    const Served served{[] { return std::string{}; }, {.stream_pause = 5ms, .stream_silence = 50ms}};
    const auto viewer = served.stream();
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 3; ++i) CHECK(viewer->until(comment).ends_with(comment));
    CHECK(std::chrono::steady_clock::now() - began >= 150ms);
  }
  SECTION("with events") {
    const Served served{[] { return std::string{"data: x\n\n"}; }, {.stream_pause = 5ms, .stream_silence = 1ms}};
    const auto viewer = served.stream();
    for (int i = 0; i < 10; ++i) CHECK(viewer->until("data: x\n\n").find("\n:") == std::string::npos);
  }
  SECTION("every fifteen seconds") { CHECK(HttpLimits{}.stream_silence == 15s); }
}
