#include "lying_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <exception>
#include <future>

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

asio::awaitable<void> write_frame(asio::ip::tcp::socket& socket, const std::string& body) {
  const std::string frame = Bytes{}.text(body).str();
  co_await asio::async_write(socket, asio::buffer(frame), asio::use_awaitable);
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
  std::promise<void> done;
  asio::post(context_, [&] {
    answers_.insert_or_assign(opcode, Answer{error, body.str()});
    done.set_value();
  });
  done.get_future().wait();
}

asio::awaitable<void> LyingServer::accept() {
  for (;;) {
    tcp::socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
    ++connections_;
    asio::co_spawn(context_, serve(std::move(socket)), [](const std::exception_ptr&) {});
  }
}

asio::awaitable<void> LyingServer::serve(tcp::socket socket) {
  static_cast<void>(co_await read_body(socket));
  Bytes welcome;  // protocol version, time-out, session, password, read-only
  welcome.number(0).number(30'000).long_number(session_id).text(std::string(16, 'p'));
  const std::string welcome_body = welcome.str() + std::string(1, '\0');
  co_await write_frame(socket, welcome_body);
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
    co_await write_frame(socket, body);
  }
}

}  // namespace zklock::test
