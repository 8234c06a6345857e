#include "dashboard.hpp"

#include "audit_file.hpp"
#include "connection.hpp"
#include "failure.hpp"
#include "http_server.hpp"
#include "pages.hpp"
#include "scrape/scraper.hpp"
#include "signals.hpp"

#include <zklock/path.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <charconv>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <utility>

namespace zklock::tools {
namespace {

namespace asio = boost::asio;

struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;
};

/// "127.0.0.1:8080", "[::1]:8080"
ListenAddress parse_listen(const std::string& text) {
  const auto colon = text.rfind(':');
  ListenAddress address;
  std::string_view host = std::string_view{text}.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  address.host = host;
  const char* end = text.data() + text.size();
  const auto parsed = colon == text.npos ? std::from_chars_result{end, std::errc::invalid_argument}
                                         : std::from_chars(text.data() + colon + 1, end, address.port);
  if (parsed.ec != std::errc{} || parsed.ptr != end || address.host.empty())
    throw Failure{status::usage, "--listen " + text + ": say ADDRESS:PORT, such as 127.0.0.1:8080"};
  return address;
}

std::shared_ptr<HttpServer> open_server(const asio::any_io_executor& executor, const ListenAddress& address,
                                        std::shared_ptr<WebHandler> handler) {
  try {
    return std::make_shared<HttpServer>(executor, address.host, address.port, std::move(handler));
  } catch (const std::invalid_argument& error) {
    throw Failure{status::usage, "--listen " + address.host + ": " + error.what()};
  } catch (const boost::system::system_error& error) {
    throw Failure{status::unavailable, "cannot listen on " + address.host + ":" + std::to_string(address.port) + ": " +
                                           error.code().message()};
  }
}

/// Loopback belongs to every user of the machine: what changes something needs a token there, too.
std::string token_for(const DashboardOptions& options, const ListenAddress& address) {
  if (!options.token_file.empty()) return read_token(options.token_file);
  return options.allow_revoke || !is_loopback(address.host) ? make_token() : std::string{};
}

class Dashboard {
 public:
  Dashboard(asio::io_context& context, const DashboardOptions& options, const Connection& connection)
      : address_{parse_listen(options.listen)},
        client_{context.get_executor(), connection.config(std::chrono::seconds{10})},
        feed_{std::make_shared<BoardFeed>(context.get_executor(), client_, options.bases, budget_of(options))},
        board_{feed_, greeting_of(options, connection)},
        pages_{std::make_shared<Pages>(pages_of(options, address_), board_, client_, *feed_)},
        server_{open_server(context.get_executor(), address_, pages_)},
        scraper_{make_scraper(context.get_executor(), options, board_)},
        timer_{context.get_executor()} {
    pages_->set_port(server_->port());
  }

  /// A token that was made is a part of the address that is printed.
  void start(const std::string& token) {
    const bool is_six = address_.host.find(':') != std::string::npos;
    std::cout << "http://" << (is_six ? "[" + address_.host + "]" : address_.host) << ":" << server_->port() << "/"
              << (token.empty() ? "" : "#token=" + token) << std::endl;
    if (!is_loopback(address_.host)) say("there is no TLS: others on the network can read the page and its token");
    feed_->start();
    server_->start();
    if (scraper_) scraper_->start();
    tick();
  }

  void stop(asio::io_context& context) {
    timer_.cancel();
    if (scraper_) scraper_->stop();
    feed_->stop();
    server_->stop();
    bool closed = false;
    client_.async_close([&](error_code) { closed = true; });
    const auto deadline = Clock::now() + std::chrono::seconds{6};
    context.restart();
    while ((!closed || !server_->is_idle()) && Clock::now() < deadline)
      context.run_one_for(std::chrono::milliseconds{50});
  }

 private:
  static Budget budget_of(const DashboardOptions& options) {
    Budget budget;
    budget.reads_per_second = options.reads_per_second;
    budget.idle_reads_per_second = std::max(options.reads_per_second / 10, 1);
    budget.watches = options.watches;
    return budget;
  }
  static Greeting greeting_of(const DashboardOptions& options, const Connection& connection) {
    Greeting greeting;
    greeting.connect = connection.connect_string();
    greeting.bases = options.bases;
    greeting.may_revoke = options.allow_revoke;
    return greeting;
  }
  static PageOptions pages_of(const DashboardOptions& options, const ListenAddress& address) {
    PageOptions pages;
    pages.access.listen_host = address.host;
    pages.access.allowed_hosts = options.allowed_hosts;
    pages.access.token = options.token;
    pages.access.session = make_token();
    pages.bases = options.bases;
    pages.may_revoke = options.allow_revoke;
    if (options.allow_revoke) pages.audit = open_audit(options.audit, AuditOutput::file_and_stdout);
    return pages;
  }
  static std::shared_ptr<Scraper> make_scraper(const asio::any_io_executor& executor, const DashboardOptions& options,
                                               LiveBoard& board) {
    if (options.scrape.empty()) return nullptr;
    std::vector<ScrapeTarget> targets;
    for (const std::string& url : options.scrape) targets.push_back(parse_target(url));
    return std::make_shared<Scraper>(executor, std::move(targets),
                                     [&board](std::string plots) { board.set_plots(std::move(plots)); });
  }

  void tick() {
    board_.tick();
    timer_.expires_after(std::chrono::seconds{1});
    timer_.async_wait([this](error_code error) {
      if (!error) tick();
    });
  }

  ListenAddress address_;
  Client client_;
  std::shared_ptr<BoardFeed> feed_;
  LiveBoard board_;
  std::shared_ptr<Pages> pages_;
  std::shared_ptr<HttpServer> server_;
  std::shared_ptr<Scraper> scraper_;
  Timer timer_;
};

}  // namespace

int dashboard(const DashboardOptions& given) {
  DashboardOptions options = given;
  for (const std::string& base : options.bases) validate_path(base);
  options.token = token_for(options, parse_listen(options.listen));
  asio::io_context context{1};
  Signals signals{context.get_executor(), {SIGINT, SIGTERM, SIGHUP}};
  const Connection connection{options.where};
  Dashboard dashboard{context, options, connection};
  dashboard.start(options.token_file.empty() ? options.token : std::string{});
  asio::co_spawn(context, signals.next(), [&](const std::exception_ptr&, const auto&) { context.stop(); });
  context.run();
  dashboard.stop(context);
  return 0;
}

}  // namespace zklock::tools
