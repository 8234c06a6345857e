#include "http_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <fcntl.h>

namespace zklock::web {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using namespace asio::experimental::awaitable_operators;

constexpr auto use_tuple = asio::as_tuple(asio::use_awaitable);

/// Counts one more while it lives.
class Count {
 public:
  explicit Count(std::size_t& counter) : counter_{counter} { ++counter_; }
  ~Count() { --counter_; }
  Count(const Count&) = delete;
  Count& operator=(const Count&) = delete;

 private:
  std::size_t& counter_;
};

WebRequest to_request(const http::request<http::string_body>& message) {
  WebRequest request;
  request.method = std::string{message.method_string()};
  const std::string target{message.target()};
  request.path = target.substr(0, target.find('?'));
  request.body = message.body();
  for (const auto& field : message) {
    std::string name{field.name_string()};
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    request.headers.emplace_back(std::move(name), std::string{field.value()});
  }
  return request;
}

template <class Fields>
void add_common_headers(Fields& message) {
  message.set(http::field::server, "zklock");
  message.set(http::field::cache_control, "no-store");
  message.set("X-Content-Type-Options", "nosniff");
  message.set("Referrer-Policy", "no-referrer");
  message.set("Cross-Origin-Resource-Policy", "same-origin");
  message.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
}

http::response<http::string_body> to_message(WebReply reply, unsigned version, bool keep_alive) {
  http::response<http::string_body> message{http::int_to_status(reply.status), version};
  add_common_headers(message);
  if (!reply.content_type.empty()) message.set(http::field::content_type, reply.content_type);
  for (const auto& [name, value] : reply.headers) message.set(name, value);
  message.keep_alive(keep_alive);
  message.body() = std::move(reply.body);
  message.prepare_payload();
  return message;
}

asio::awaitable<bool> send(beast::tcp_stream& stream, http::response<http::string_body>& message, HttpLimits limits) {
  stream.expires_after(limits.request_time);
  const auto [error, bytes] = co_await http::async_write(stream, message, use_tuple);
  co_return !error && message.keep_alive();
}

tcp::endpoint to_endpoint(const std::string& host, std::uint16_t port) {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, error);
  if (error) throw std::invalid_argument{"'" + host + "' is not a numeric address, such as 127.0.0.1 or ::1"};
  return {address, port};
}

/// A program that this process starts must not keep the port.
void close_on_exec(int descriptor) { ::fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

}  // namespace

HttpServer::HttpServer(const asio::any_io_executor& executor, const std::string& host, std::uint16_t port,
                       std::shared_ptr<WebHandler> handler, HttpLimits limits)
    : handler_{std::move(handler)},
      limits_{limits},
      acceptor_{executor, to_endpoint(host, port)},
      port_{acceptor_.local_endpoint().port()} {
  close_on_exec(acceptor_.native_handle());
}

void HttpServer::start() { asio::co_spawn(acceptor_.get_executor(), accept(shared_from_this()), asio::detached); }

void HttpServer::stop() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  stopping_ = true;
  for (Connection& connection : open_) connection.stream.cancel();
}

asio::awaitable<void> HttpServer::accept(std::shared_ptr<HttpServer> self) {
  tcp::acceptor& acceptor = self->acceptor_;
  asio::steady_timer pause{acceptor.get_executor()};
  while (acceptor.is_open()) {
    auto [error, socket] = co_await acceptor.async_accept(use_tuple);
    if (error == asio::error::operation_aborted) co_return;
    if (error) {  // such as too many open files
      pause.expires_after(std::chrono::milliseconds{100});
      co_await pause.async_wait(use_tuple);
    } else if (self->make_room()) {
      close_on_exec(socket.native_handle());
      self->open_.push_back({beast::tcp_stream{std::move(socket)}});
      asio::co_spawn(acceptor.get_executor(), serve(self, std::prev(self->open_.end())), asio::detached);
    }
  }
}

/// Ends a connection if all are in use: one without a request, or else one that does not take its reply. False: all of
/// them are streams, or are ending.
bool HttpServer::make_room() {
  if (open_.size() < limits_.connections) return true;
  auto oldest = std::ranges::find(open_, Connection::Phase::awaits_request, &Connection::phase);
  if (oldest == open_.end()) oldest = std::ranges::find(open_, Connection::Phase::replies, &Connection::phase);
  if (oldest == open_.end()) return false;
  oldest->phase = Connection::Phase::ends;
  oldest->stream.close();
  return true;
}

asio::awaitable<void> HttpServer::serve(std::shared_ptr<HttpServer> self, Connections::iterator connection) {
  struct Guard {
    HttpServer& server;
    Connections::iterator connection;
    ~Guard() { server.open_.erase(connection); }
  } const guard{*self, connection};
  co_await self->converse(*connection);
}

/// Ends when the browser goes, or has not taken what is written within HttpLimits::request_time. A browser has nothing to
/// say on this connection: if there is something to read, it is the end.
asio::awaitable<void> HttpServer::send_events(beast::tcp_stream& stream, EventSource& source) {
  // Both outlive the write of the header (beast#1584).
  http::response<http::empty_body> message{http::status::ok, 11};
  http::response_serializer<http::empty_body> serializer{message};
  add_common_headers(message);
  message.set(http::field::content_type, "text/event-stream");
  message.set("X-Accel-Buffering", "no");
  message.chunked(true);
  stream.expires_after(limits_.request_time);
  const auto [error, bytes] = co_await http::async_write_header(stream, serializer, use_tuple);
  if (error) co_return;
  asio::steady_timer timer{co_await asio::this_coro::executor};
  auto spoke = std::chrono::steady_clock::now();
  while (!stopping_) {
    std::string text = source.next();
    const auto now = std::chrono::steady_clock::now();
    if (text.empty() && now - spoke >= limits_.stream_silence) text = ":\n\n";
    if (!text.empty()) {
      spoke = now;
      stream.expires_after(limits_.request_time);
      const auto chunk = http::make_chunk(asio::buffer(text));
      const auto [failed, written] = co_await asio::async_write(stream, chunk, use_tuple);
      if (failed) co_return;
      stream.expires_never();
    }
    timer.expires_after(limits_.stream_pause);
    const auto first =
        co_await (timer.async_wait(use_tuple) || stream.socket().async_wait(tcp::socket::wait_read, use_tuple));
    if (first.index() == 1) co_return;
  }
}

asio::awaitable<void> HttpServer::converse(Connection& connection) {
  beast::tcp_stream& stream = connection.stream;
  beast::flat_buffer buffer{limits_.header_bytes + limits_.body_bytes};
  for (bool again = true; again && !stopping_;) {
    http::request_parser<http::string_body> parser;
    parser.header_limit(limits_.header_bytes);
    parser.body_limit(limits_.body_bytes);
    stream.expires_after(limits_.request_time);
    connection.phase = Connection::Phase::awaits_request;
    const auto [error, bytes] = co_await http::async_read(stream, buffer, parser, use_tuple);
    if (connection.phase == Connection::Phase::ends) co_return;
    connection.phase = Connection::Phase::replies;
    if (error == http::error::body_limit || error == http::error::header_limit) {
      WebReply reply = plain_text(error == http::error::body_limit ? 413 : 431, "too large");
      auto message = to_message(std::move(reply), 11, false);
      co_await send(stream, message, limits_);
      co_return;
    }
    if (error) co_return;
    const auto& received = parser.get();
    WebRequest request = to_request(received);
    const bool wants_stream = request.path == stream_path && request.method == "GET";
    const bool wants_no_body = request.method == "HEAD";
    if (wants_no_body) request.method = "GET";  // a stream of events is nothing without a body: the handler answers
    WebReply reply;
    std::unique_ptr<EventSource> source;
    const bool is_full = wants_stream && streams_ >= limits_.streams;
    if (wants_stream && !is_full) source = handler_->open_stream(request);
    if (source) {
      const Count one{streams_};
      connection.phase = Connection::Phase::streams;
      co_await send_events(stream, *source);
      co_return;
    }
    if (is_full)
      reply = plain_text(503, "too many viewers");
    else
      reply = co_await handler_->answer(std::move(request));
    auto message = to_message(std::move(reply), received.version(), received.keep_alive());
    if (wants_no_body) message.body().clear();  // after its length is in the header
    again = co_await send(stream, message, limits_) && connection.phase != Connection::Phase::ends;
    move_to_end(connection);
  }
}

/// The order of the connections is that of their last replies.
void HttpServer::move_to_end(Connection& connection) {
  const auto found = std::ranges::find(open_, &connection, [](const Connection& each) { return &each; });
  open_.splice(open_.end(), open_, found);
}

}  // namespace zklock::web
