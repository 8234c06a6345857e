#include "wire.hpp"

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace zklock::testing::wire {
namespace {

constexpr std::size_t largest_frame = 4 << 20;

void append_big_endian(std::string& bytes, std::uint64_t value, int size) {
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) bytes += static_cast<char>((value >> shift) & 0xff);
}

std::uint64_t big_endian(std::string_view bytes, std::size_t offset, std::size_t size) {
  if (offset + size > bytes.size()) throw std::runtime_error{"the server's answer is too short"};
  std::uint64_t value = 0;
  for (const char byte : bytes.substr(offset, size)) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

std::int32_t read_int(std::string_view bytes, std::size_t offset) {
  return static_cast<std::int32_t>(big_endian(bytes, offset, 4));
}

}  // namespace

Record& Record::put_bool(bool value) {
  bytes_ += static_cast<char>(value);
  return *this;
}

Record& Record::put_int(std::int32_t value) {
  append_big_endian(bytes_, static_cast<std::uint32_t>(value), 4);
  return *this;
}

Record& Record::put_long(std::int64_t value) {
  append_big_endian(bytes_, static_cast<std::uint64_t>(value), 8);
  return *this;
}

Record& Record::put_buffer(std::string_view bytes) {
  put_int(static_cast<std::int32_t>(bytes.size()));
  bytes_ += bytes;
  return *this;
}

Record& Record::put_record(const Record& record) {
  bytes_ += record.bytes_;
  return *this;
}

Connection::Connection(const Endpoint& server, Deadline deadline)
    : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)}, deadline_{deadline} {
  if (!socket_) throw_errno("socket");
  const sockaddr_in address = socket_address(server.address, server.port);
  if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
  if (errno != EINPROGRESS) throw_errno("connect");
  if (!wait_ready(socket_, POLLOUT, deadline_)) throw std::runtime_error{"connect: no answer in time"};
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) throw_errno("getsockopt");
  if (error != 0) throw std::system_error{error, std::generic_category(), "connect"};
}

void Connection::send(std::string_view bytes) { send_all(socket_, bytes, deadline_); }

std::string Connection::receive_all() {
  std::string all;
  for (;;) {
    const auto bytes = receive_some(socket_, 4096, deadline_);
    if (bytes.empty()) return all;
    all += bytes;
  }
}

void Connection::send_connect(const SessionName& session, std::int32_t timeout_ms) {
  constexpr std::int32_t protocol_version = 0;
  constexpr std::int64_t last_zxid_seen = 0;  // never ahead of the server's zxid
  Record request;
  request.put_int(protocol_version).put_long(last_zxid_seen).put_int(timeout_ms);
  send_frame(request.put_long(session.id).put_buffer(session.password).put_bool(false));
}

SessionName Connection::receive_connected() {
  const auto frame = receive_frame();  // protocol version, timeout, id, password, read only
  const auto id = static_cast<std::int64_t>(big_endian(frame, 8, 8));
  return {id, frame.substr(20, big_endian(frame, 16, 4))};
}

void Connection::send_request(Opcode opcode, const Record& body) {
  constexpr std::int32_t xid = 1;
  send_frame(Record{}.put_int(xid).put_int(static_cast<std::int32_t>(opcode)).put_record(body));
}

std::int32_t Connection::receive_reply() { return read_int(receive_frame(), 12); }  // xid, zxid, error

void Connection::send_frame(const Record& body) { send(Record{}.put_buffer(body.bytes()).bytes()); }

std::string Connection::receive_frame() {
  const auto size = big_endian(receive_exactly(4), 0, 4);
  if (size > largest_frame) throw std::runtime_error{"the server's answer is no frame"};
  return receive_exactly(size);
}

std::string Connection::receive_exactly(std::size_t count) {
  std::string all;
  while (all.size() < count) {
    const auto bytes = receive_some(socket_, count - all.size(), deadline_);
    if (bytes.empty()) throw std::runtime_error{"the server has closed the connection"};
    all += bytes;
  }
  return all;
}

std::string four_letter_word(const Endpoint& server, std::string_view word, Deadline deadline) {
  Connection connection{server, deadline};
  connection.send(word);
  return connection.receive_all();
}

bool close_session(const Endpoint& server, const SessionName& session, Deadline deadline) {
  Connection connection{server, deadline};
  // Both in one go: a client that loses its connection by the first must not reconnect before the second.
  connection.send_connect(session, 0);
  connection.send_request(Opcode::close_session);
  if (connection.receive_connected().id == 0) return false;
  return connection.receive_reply() == 0;
}

}  // namespace zklock::testing::wire
