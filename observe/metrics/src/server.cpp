#include "http_server.hpp"

#include <zklock/metrics/server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace zklock::metrics {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

using Strand = asio::strand<asio::any_io_executor>;

/// Whether the executor runs a function within a second.
asio::awaitable<bool> answers(Strand here, asio::any_io_executor io) {
  struct Question {
    explicit Question(const Strand& strand) : limit{strand, 1s} {}
    asio::steady_timer limit;
    bool is_answered = false;
  };
  const auto question = std::make_shared<Question>(here);
  asio::post(io, [here, question] {
    asio::post(here, [question] {
      question->is_answered = true;
      question->limit.cancel();
    });
  });
  static_cast<void>(co_await question->limit.async_wait(asio::as_tuple(asio::use_awaitable)));
  co_return question->is_answered;
}

/// A page that was rebound to this address by DNS comes by a name.
bool knows_host(const ServerOptions& options, const std::string& host) {
  if (host.empty()) return false;
  const bool is_six = host.starts_with('[');
  boost::system::error_code error;
  static_cast<void>(asio::ip::make_address(is_six ? host.substr(1, host.size() - 2) : host, error));
  return !error || host == "localhost" || std::ranges::find(options.allowed_hosts, host) != options.allowed_hosts.end();
}

class Pages final : public web::WebHandler {
 public:
  Pages(Strand strand, std::shared_ptr<const Metrics> metrics, std::vector<ClientHandle> clients, ServerOptions options)
      : strand_{std::move(strand)},
        metrics_{std::move(metrics)},
        clients_{std::move(clients)},
        options_{std::move(options)} {
    for (std::string& host : options_.allowed_hosts) host = web::host_of(host);
  }

  asio::awaitable<web::WebReply> answer(web::WebRequest request) override {
    if (!knows_host(options_, web::host_of(request.header("host"))))
      co_return web::plain_text(403, "the server does not know that host name: see ServerOptions::allowed_hosts");
    if (request.method != "GET") {
      web::WebReply reply = web::plain_text(405, "GET only");
      reply.headers.emplace_back("Allow", "GET, HEAD");
      co_return reply;
    }
    const std::string& path = request.path;
    if (path == "/metrics") co_return web::WebReply{200, std::string{Metrics::content_type}, metrics_->text()};
    if (path == "/livez") {
      for (const ClientHandle& client : clients_) {
        auto alive = answers(strand_, client.get_executor());
        if (!co_await std::move(alive)) co_return web::plain_text(503, "a client's I/O does not answer");
      }
      co_return web::plain_text(200, "ok");
    }
    if (path == "/readyz" || path == "/healthz") {
      web::WebReply reply = web::json_text(health_text(*metrics_, clients_));
      reply.status = is_ready(clients_) ? 200 : 503;
      co_return reply;
    }
    co_return web::plain_text(404, "there is /metrics, /livez, /readyz and /healthz");
  }

 private:
  Strand strand_;
  std::shared_ptr<const Metrics> metrics_;
  std::vector<ClientHandle> clients_;
  ServerOptions options_;
};

ServerOptions checked(ServerOptions options) {
  if (options.max_connections == 0) throw std::invalid_argument{"ServerOptions: max_connections is 0"};
  if (options.request_time <= 0ms) throw std::invalid_argument{"ServerOptions: request_time is not positive"};
  return options;
}

}  // namespace

class Server::Impl {
 public:
  Impl(const asio::any_io_executor& executor, std::shared_ptr<const Metrics> metrics, std::vector<ClientHandle> clients,
       const ServerOptions& options)
      : strand_{asio::make_strand(executor)},
        server_{std::make_shared<web::HttpServer>(
            strand_, options.host, options.port,
            std::make_shared<Pages>(strand_, std::move(metrics), std::move(clients), options),
            web::HttpLimits{
                .connections = options.max_connections, .streams = 0, .request_time = options.request_time})} {}

  void start() {
    asio::dispatch(strand_, [server = server_] { server->start(); });
  }
  void stop() {
    asio::dispatch(strand_, [server = server_] { server->stop(); });
  }
  [[nodiscard]] std::uint16_t port() const noexcept { return server_->port(); }

 private:
  Strand strand_;
  std::shared_ptr<web::HttpServer> server_;
};

Server::Server(const asio::any_io_executor& executor, std::shared_ptr<const Metrics> metrics,
               std::vector<ClientHandle> clients, ServerOptions options)
    : impl_{std::make_unique<Impl>(executor, std::move(metrics), std::move(clients), checked(std::move(options)))} {
  impl_->start();
}

Server::~Server() { impl_->stop(); }

std::uint16_t Server::port() const noexcept { return impl_->port(); }

}  // namespace zklock::metrics
