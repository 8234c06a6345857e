#include "proxy.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <future>

namespace zklock::test {

namespace asio = boost::asio;
using boost::system::error_code;

/// One connection and its continuation to the server.
struct Proxy::Link : std::enable_shared_from_this<Link> {
  Link(Proxy& p, tcp::socket&& c) : proxy{p}, client{std::move(c)}, server{p.context_} {}

  Proxy& proxy;
  tcp::socket client;
  tcp::socket server;
  std::array<char, 65'536> requests{};
  std::array<char, 65'536> replies{};

  void start() {
    server.async_connect(proxy.server_, [self = shared_from_this()](error_code error) {
      if (error) return self->cut();
      self->forward(self->client, self->server, self->requests, false);
      self->forward(self->server, self->client, self->replies, true);
    });
  }
  void forward(tcp::socket& from, tcp::socket& to, std::array<char, 65'536>& buffer, bool may_be_held) {
    from.async_read_some(asio::buffer(buffer), [self = shared_from_this(), &from, &to, &buffer, may_be_held](
                                                   error_code error, std::size_t size) {
      if (error) return self->cut();
      if (may_be_held && self->proxy.holding_) return self->forward(from, to, buffer, may_be_held);
      asio::async_write(to, asio::buffer(buffer, size),
                        [self, &from, &to, &buffer, may_be_held](error_code failed, std::size_t) {
                          if (failed) return self->cut();
                          self->forward(from, to, buffer, may_be_held);
                        });
    });
  }
  void cut() {
    error_code ignored;
    client.close(ignored);
    server.close(ignored);
  }
};

Proxy::Proxy(std::uint16_t server_port)
    : acceptor_{context_, tcp::endpoint{asio::ip::address_v4::loopback(), 0}},
      server_{asio::ip::address_v4::loopback(), server_port} {
  accept();
  thread_ = std::thread{[this] { context_.run(); }};
}

Proxy::~Proxy() {
  context_.stop();
  thread_.join();
}

std::string Proxy::address() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }

void Proxy::accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket client) {
    if (error) return;
    ++connections_;
    const auto link = std::make_shared<Link>(*this, std::move(client));
    links_.push_back(link);
    link->start();
    accept();
  });
}

void Proxy::cut() {
  std::promise<void> done;
  asio::post(context_, [&] {
    for (const auto& link : std::exchange(links_, {}))
      if (const auto live = link.lock()) live->cut();
    holding_ = false;
    done.set_value();
  });
  done.get_future().wait();
}

}  // namespace zklock::test
