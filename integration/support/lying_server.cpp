#include "lying_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <exception>
#include <future>
#include <limits>

namespace zklock::test {

namespace asio = boost::asio;

namespace {

std::uint32_t number_at(const std::string& bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = offset; i < offset + 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes.at(i));
  return value;
}

asio::awaitable<std::string> read(asio::ip::tcp::socket& socket, std::size_t size) {
  std::string bytes(size, '\0');
  co_await asio::async_read(socket, asio::buffer(bytes), asio::use_awaitable);
  co_return bytes;
}

asio::awaitable<std::string> read_body(asio::ip::tcp::socket& socket) {
  const std::string length = co_await read(socket, 4);
  co_return co_await read(socket, number_at(length, 0) & 0xfffff);
}

/// `cut`: after so many bytes there is a pause; 0: none.
asio::awaitable<void> write_frame(asio::ip::tcp::socket& socket, const std::string& body, std::size_t cut = 0) {
  const std::string frame = Bytes{}.text(body).str();
  if (cut > 0) {
    co_await asio::async_write(socket, asio::buffer(frame, cut), asio::use_awaitable);
    asio::steady_timer pause{socket.get_executor(), std::chrono::milliseconds{2}};
    co_await pause.async_wait(asio::use_awaitable);
  }
  co_await asio::async_write(socket, asio::buffer(frame) + cut, asio::use_awaitable);
}

asio::awaitable<void> write_text(asio::ip::tcp::socket& socket, const std::string& text) {
  co_await asio::async_write(socket, asio::buffer(text), asio::use_awaitable);
}

/// ConnectResponse: the protocol's version, timeout, session, password, read-only.
std::string connect_response(Lie lie) {
  std::int32_t timeout = LyingServer::granted.count();
  if (lie == Lie::no_timeout) timeout = 0;
  if (lie == Lie::negative_timeout) timeout = -1;
  if (lie == Lie::endless_timeout) timeout = std::numeric_limits<std::int32_t>::max();
  Bytes welcome;
  welcome.number(0).number(timeout).long_number(lie == Lie::no_session ? 0 : LyingServer::session_id);
  welcome.text(std::string(lie == Lie::short_password ? 15 : 16, 'p'));
  std::string body = welcome.str();
  body.resize(37);
  return body;
}

std::string header_of(std::int32_t xid) { return Bytes{}.number(xid).long_number(1).number(0).str(); }

/// What comes after a good handshake.
asio::awaitable<void> lie_on(asio::ip::tcp::socket& socket, Lie lie) {
  if (lie == Lie::unasked_after_ping) co_await write_frame(socket, header_of(-2));
  if (lie == Lie::unasked_reply || lie == Lie::unasked_after_ping) co_await write_frame(socket, header_of(77));
  if (lie == Lie::torn_event) {
    const std::string event = Bytes{}.number(3).number(3).number(1'000).str();
    const std::string frame = header_of(-1) + event + "/a";
    co_await write_frame(socket, frame);
  }
  if (lie == Lie::short_frame) co_await write_frame(socket, "none");
  if (lie == Lie::negative_length) {
    const std::string frame = Bytes{}.number(-1).number(-2).str();
    co_await write_text(socket, frame);
  }
}

}  // namespace

Bytes& Bytes::stat(std::int64_t owner) {
  long_number(1).long_number(1).long_number(0).long_number(0);  // czxid, mzxid, ctime, mtime
  number(0).number(0).number(0).long_number(owner);             // versions: data, children, ACL
  return number(0).number(0).long_number(1);                    // lengths; pzxid
}

LyingServer::LyingServer() : acceptor_{context_, tcp::endpoint{asio::ip::address_v4::loopback(), 0}} {
  address_ = "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  asio::co_spawn(context_, accept(), [](const std::exception_ptr&) {});
  thread_ = std::thread{[this] { context_.run(); }};
}

LyingServer::~LyingServer() {
  context_.stop();
  thread_.join();
}

void LyingServer::answer(Opcode opcode, std::int32_t error, const Bytes& body) {
  run([&] { answers_.insert_or_assign(opcode, Answer{error, body.str()}); });
}

void LyingServer::run(const std::function<void()>& task) {
  std::promise<void> done;
  asio::post(context_, [&] {
    task();
    done.set_value();
  });
  done.get_future().wait();
}

void LyingServer::lie(Lie lie, int times) {
  run([&] {
    lie_ = lie;
    lies_left_ = times;
  });
}

void LyingServer::hang_up() {
  run([&] {
    if (const auto last = last_.lock()) last->close();
  });
}

asio::awaitable<void> LyingServer::accept() {
  for (;;) {
    auto socket = std::make_shared<tcp::socket>(co_await acceptor_.async_accept(asio::use_awaitable));
    ++connections_;
    last_ = socket;
    const Lie lie = lies_left_ > 0 ? lie_ : Lie::none;
    if (lies_left_ > 0) --lies_left_;
    asio::co_spawn(context_, serve(std::move(socket), lie), [](const std::exception_ptr&) {});
  }
}

asio::awaitable<void> LyingServer::serve(std::shared_ptr<tcp::socket> owned, Lie lie) {
  tcp::socket& socket = *owned;
  socket.set_option(tcp::no_delay{true});
  static_cast<void>(co_await read_body(socket));
  const std::string truth = connect_response(lie);
  const std::string half = Bytes{}.text(truth).str().substr(0, 20);
  switch (lie) {
    case Lie::zeros: co_await write_text(socket, std::string(41, '\0')); break;
    case Lie::http: co_await write_text(socket, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"); co_return;
    case Lie::half_a_handshake: co_await write_text(socket, half); co_return;
    case Lie::in_two: co_await write_frame(socket, truth, 1); break;
    default: co_await write_frame(socket, truth);
  }
  if (lie == Lie::hang_up) co_return;
  co_await lie_on(socket, lie);
  std::size_t cut = 0;
  for (std::int64_t zxid = 2;; ++zxid) {
    const std::string request = co_await read_body(socket);
    const auto opcode = Opcode{static_cast<std::int32_t>(number_at(request, 4))};
    const auto told = answers_.find(opcode);
    constexpr std::int32_t no_node = -101;
    std::int32_t error = told != answers_.end() ? told->second.error : no_node;
    if (opcode == Opcode::ping || opcode == Opcode::close_session) error = 0;
    Bytes reply;
    reply.number(static_cast<std::int32_t>(number_at(request, 0))).long_number(zxid).number(error);
    std::string body = reply.str();
    if (told != answers_.end()) body += told->second.body;
    if (lie == Lie::in_two) cut = cut % (body.size() + 3) + 1;  // at another place each time
    co_await write_frame(socket, body, cut);
  }
}

}  // namespace zklock::test
