#include "scraper.hpp"

#include "await.hpp"
#include "failure.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace zklock::tools {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace json = boost::json;

json::value seconds(std::optional<double> value) { return value ? json::value{*value} : json::value{}; }

json::object to_plot(const char* title, const QuantileHistory& history) {
  json::array at;
  json::array median;
  json::array high;
  for (const QuantileHistory::Point& point : history.points()) {
    at.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(point.at.time_since_epoch()).count());
    median.push_back(seconds(point.median));
    high.push_back(seconds(point.high));
  }
  json::object first{{"name", "median"}, {"colour", "--hold"}};
  first["values"] = std::move(median);
  json::object second{{"name", "99 of 100"}, {"colour", "--wait"}};
  second["values"] = std::move(high);
  json::object plot{{"title", title}};
  plot["at"] = std::move(at);
  plot["series"] = json::array{std::move(first), std::move(second)};
  return plot;
}

}  // namespace

ScrapeTarget parse_target(const std::string& url) {
  constexpr std::string_view scheme = "http://";
  const Failure wrong{status::usage, "--scrape " + url + ": say http://HOST:PORT/PATH"};
  if (!url.starts_with(scheme)) throw wrong;
  const auto slash = url.find('/', scheme.size());
  const std::string place = url.substr(scheme.size(), slash == url.npos ? url.npos : slash - scheme.size());
  const auto colon = place.rfind(':');
  ScrapeTarget target{url, place.substr(0, colon), colon == place.npos ? "80" : place.substr(colon + 1),
                      slash == url.npos ? "/metrics" : url.substr(slash)};
  const auto is_odd = [](unsigned char c) { return c <= ' ' || c >= 0x7f; };
  if (target.host.empty() || target.port.empty() || std::ranges::any_of(url, is_odd)) throw wrong;
  return target;
}

Scraper::Scraper(asio::any_io_executor executor, std::vector<ScrapeTarget> targets,
                 std::function<void(std::string)> publish, ScrapeLimits limits)
    : executor_{std::move(executor)}, targets_{std::move(targets)}, publish_{std::move(publish)}, limits_{limits} {}

void Scraper::start() { asio::co_spawn(executor_, run(shared_from_this()), asio::detached); }

asio::awaitable<void> Scraper::run(std::shared_ptr<Scraper> self) {
  asio::steady_timer timer{self->executor_};
  while (!self->stopped_) {
    self->reached_ = 0;
    for (const ScrapeTarget& target : self->targets_)
      asio::co_spawn(self->executor_, fetch(self, target), asio::detached);
    timer.expires_after(self->limits_.interval);
    const auto [error] = co_await timer.async_wait(use_tuple);
    if (error || self->stopped_) co_return;
    const auto now = std::chrono::system_clock::now();
    self->wait_.end_interval(now);
    self->hold_.end_interval(now);
    self->publish_(self->plots());
  }
}

asio::awaitable<void> Scraper::fetch(std::shared_ptr<Scraper> self, ScrapeTarget target) {
  asio::ip::tcp::resolver resolver{self->executor_};
  beast::tcp_stream stream{self->executor_};
  const auto [unknown, places] = co_await resolver.async_resolve(target.host, target.port, use_tuple);
  if (unknown) co_return;
  stream.expires_after(self->limits_.fetch);
  const auto [unreachable, place] = co_await stream.async_connect(places, use_tuple);
  if (unreachable) co_return;
  http::request<http::empty_body> request{http::verb::get, target.path, 11};
  request.set(http::field::host, target.host + ":" + target.port);
  request.set(http::field::connection, "close");
  const auto [unsent, written] = co_await http::async_write(stream, request, use_tuple);
  if (unsent) co_return;
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(self->limits_.page_bytes);
  const auto [failed, bytes] = co_await http::async_read(stream, buffer, parser, use_tuple);
  if (failed || self->stopped_ || parser.get().result() != http::status::ok) co_return;
  const auto samples = parse_metrics(parser.get().body());
  self->wait_.add(target.url, samples);
  self->hold_.add(target.url, samples);
  ++self->reached_;
}

std::string Scraper::plots() const {
  const json::object object{{"plots", json::array{to_plot("Waiting time", wait_), to_plot("Hold time", hold_)}},
                            {"reached", reached_},
                            {"targets", targets_.size()}};
  return json::serialize(object);
}

}  // namespace zklock::tools
