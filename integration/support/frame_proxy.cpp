#include "frame_proxy.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <future>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace zklock::test {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr std::size_t prefix = 4;         // the length of what follows
constexpr std::size_t reply_header = 16;  // xid, zxid, error
constexpr std::size_t largest_frame = 8 << 20;
constexpr std::int32_t handshake = std::numeric_limits<std::int32_t>::min();  // no request has this xid

std::int32_t int_at(std::string_view frame, std::size_t offset) {
  std::uint32_t value = 0;
  for (const char byte : frame.substr(offset, 4)) value = value << 8 | static_cast<unsigned char>(byte);
  return static_cast<std::int32_t>(value);
}

/// The next frame with its length in front. Throws at the end of the connection.
asio::awaitable<std::string> read_frame(tcp::socket& socket) {
  std::string frame(prefix, '\0');
  co_await asio::async_read(socket, asio::buffer(frame), asio::use_awaitable);
  const auto size = static_cast<std::uint32_t>(int_at(frame, 0));
  if (size > largest_frame) throw std::runtime_error{"not a frame"};
  frame.resize(prefix + size);
  co_await asio::async_read(socket, asio::buffer(frame.data() + prefix, size), asio::use_awaitable);
  co_return frame;
}

asio::awaitable<void> write(tcp::socket& socket, const std::string& bytes, std::size_t count) {
  co_await asio::async_write(socket, asio::buffer(bytes.data(), count), asio::use_awaitable);
}

void close(tcp::socket& socket, CutManner manner) {
  error_code ignored;
  if (manner == CutManner::reset) socket.set_option(asio::socket_base::linger{true, 0}, ignored);
  socket.close(ignored);
}

}  // namespace

namespace {

/// The driver's heartbeat is a read of the root.
Opcode opcode_of(const std::string& frame) {
  const Opcode opcode{int_at(frame, 8)};
  return opcode == Opcode::exists && int_at(frame, 12) == 1 ? Opcode::ping : opcode;
}

}  // namespace

/// One connection and its continuation to the server.
struct FrameProxy::Link : std::enable_shared_from_this<Link> {
  struct Expected {
    std::int32_t xid;
    std::optional<Cut> cut;
  };

  Link(FrameProxy& p, tcp::socket&& c) : proxy{p}, client{std::move(c)}, server{p.context_} {}

  FrameProxy& proxy;
  tcp::socket client;
  tcp::socket server;
  std::vector<Expected> expected{};  // the replies that are to come
  bool over = false;                 // an orderly end: listens on, so that nothing unread turns the FIN into an RST
  int ended = 0;                     // how many of the two directions have ended

  void start() {
    asio::co_spawn(
        proxy.context_, [self = shared_from_this()] { return self->run(); }, [](const std::exception_ptr&) {});
  }

  asio::awaitable<void> run() {
    const auto [error] = co_await server.async_connect(proxy.server_, asio::as_tuple(asio::use_awaitable));
    if (error) co_return close_both(CutManner::reset);
    spawn(&Link::forward_requests);
    spawn(&Link::forward_replies);
  }

  void spawn(asio::awaitable<void> (Link::*loop)()) {
    asio::co_spawn(
        proxy.context_, [self = shared_from_this(), loop] { return (self.get()->*loop)(); },
        [self = shared_from_this()](const std::exception_ptr&) {
          if (++self->ended == 2 || !self->over) self->close_both(CutManner::orderly);
        });
  }

  asio::awaitable<void> forward_requests() {
    for (bool first = true;; first = false) {
      const std::string frame = co_await read_frame(client);
      if (over) continue;
      const Expected reply{first ? handshake : int_at(frame, 4),
                           proxy.note_request(first ? Opcode::create_session : opcode_of(frame))};
      co_await proxy.pass(Direction::requests);
      if (over) continue;
      if (reply.cut && reply.cut->point == CutPoint::before_request) {
        end(*reply.cut);
      } else if (reply.cut && reply.cut->point <= CutPoint::after_request) {
        co_await write(server, frame, reply.cut->point == CutPoint::inside_request ? frame.size() / 2 : frame.size());
        end(*reply.cut);
      } else {
        expected.push_back(reply);
        co_await write(server, frame, frame.size());
      }
    }
  }

  asio::awaitable<void> forward_replies() {
    for (bool first = true;; first = false) {
      const std::string frame = co_await read_frame(server);
      co_await proxy.pass(Direction::replies);
      if (over) continue;
      const std::optional<Cut> cut = take_expected(first ? handshake : int_at(frame, 4));
      if (cut && cut->point == CutPoint::inside_reply)
        co_await write(client, frame, std::min(prefix + reply_header, frame.size() - 1));
      if (cut) {
        end(*cut);
      } else {
        co_await write(client, frame, frame.size());
      }
    }
  }

  /// Pings share one xid, and watch events are no replies.
  std::optional<Cut> take_expected(std::int32_t xid) {
    const auto found = std::find_if(expected.begin(), expected.end(), [&](const auto& one) { return one.xid == xid; });
    if (found == expected.end()) return {};
    const auto cut = found->cut;
    expected.erase(found);
    return cut;
  }

  void end(const Cut& cut) {
    proxy.note_cut(cut);
    over = true;
    if (cut.manner == CutManner::reset) return close_both(CutManner::reset);
    error_code ignored;
    client.shutdown(tcp::socket::shutdown_send, ignored);
    server.shutdown(tcp::socket::shutdown_send, ignored);
  }

  void close_both(CutManner manner) {
    close(client, manner);
    close(server, manner);
  }
};

FrameProxy::FrameProxy(std::uint16_t server_port, const std::string& host) : FrameProxy{server_port, host, host} {}

FrameProxy::FrameProxy(std::uint16_t server_port, const std::string& host, const std::string& own_host)
    : server_{asio::ip::make_address(host), server_port},
      acceptor_{context_, tcp::endpoint{asio::ip::make_address(own_host), 0}},
      address_{(own_host.find(':') == std::string::npos ? own_host : "[" + own_host + "]") + ":" +
               std::to_string(acceptor_.local_endpoint().port())} {
  accept();
  thread_ = std::thread{[this] { context_.run(); }};
}

FrameProxy::~FrameProxy() {
  context_.stop();
  thread_.join();
}

void FrameProxy::accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket client) {
    if (error) return;
    if (refusing_) {
      ++refusals_;
      close(client, CutManner::reset);
    } else {
      ++connections_;
      client.set_option(tcp::no_delay{true});
      const auto link = std::make_shared<Link>(*this, std::move(client));
      std::erase_if(links_, [](const auto& other) { return other.expired(); });
      links_.push_back(link);
      link->start();
    }
    accept();
  });
}

/// The cut to make at this request, if cut_at is about it.
std::optional<Cut> FrameProxy::note_request(Opcode opcode) {
  ++seen_[opcode];
  if (!rule_ || rule_->opcode != opcode || --rule_->nth > 0) return {};
  return std::exchange(rule_, {});
}

void FrameProxy::note_cut(const Cut& cut) {
  ++cuts_;
  if (cut.afterwards == Afterwards::refuse) refusing_ = true;
}

asio::awaitable<void> FrameProxy::Gate::pass() {
  while (!open) co_await opened.async_wait(asio::as_tuple(asio::use_awaitable));
}

void FrameProxy::Gate::set(bool to_open) {
  open = to_open;
  if (open) opened.cancel();
}

asio::awaitable<void> FrameProxy::pass(Direction direction) {
  if (delay_ > delay_.zero()) {
    asio::steady_timer timer{context_, delay_};
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_await gate(direction).pass();
}

void FrameProxy::run(const std::function<void()>& task) {
  std::promise<void> done;
  asio::post(context_, [&] {
    task();
    done.set_value();
  });
  done.get_future().wait();
}

void FrameProxy::cut_at(const Cut& cut) {
  run([&] { rule_ = cut; });
}

void FrameProxy::cut() {
  run([&] {
    for (const auto& link : std::exchange(links_, {}))
      if (const auto live = link.lock()) {
        live->over = true;
        live->close_both(CutManner::orderly);
      }
    requests_gate_.set(true);
    replies_gate_.set(true);
  });
}

void FrameProxy::hold(Direction direction) {
  run([&] { gate(direction).set(false); });
}

void FrameProxy::resume(Direction direction) {
  run([&] { gate(direction).set(true); });
}

void FrameProxy::slow_down(std::chrono::milliseconds delay) {
  run([&] { delay_ = delay; });
}

void FrameProxy::refuse() {
  run([&] { refusing_ = true; });
}

void FrameProxy::accept_again() {
  run([&] { refusing_ = false; });
}

int FrameProxy::connections() {
  int count = 0;
  run([&] { count = connections_; });
  return count;
}

int FrameProxy::refusals() {
  int count = 0;
  run([&] { count = refusals_; });
  return count;
}

int FrameProxy::cuts() {
  int count = 0;
  run([&] { count = cuts_; });
  return count;
}

int FrameProxy::requests(Opcode opcode) {
  int count = 0;
  run([&] { count = seen_[opcode]; });
  return count;
}

}  // namespace zklock::test
