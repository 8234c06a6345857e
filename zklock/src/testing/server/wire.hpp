// The part of ZooKeeper's protocol that a test server needs, blocking.
#pragma once

#include "descriptor.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace zklock::testing::wire {

/// A jute record under construction (zookeeper.jute of the release defines the records).
class Record {
 public:
  Record& put_bool(bool value);
  Record& put_int(std::int32_t value);
  Record& put_long(std::int64_t value);
  Record& put_buffer(std::string_view bytes);
  Record& put_record(const Record& record);
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

enum class Opcode : std::int32_t { create = 1, exists = 3, close_session = -11 };

struct SessionName {
  std::int64_t id = 0;                           ///< 0: none, or a request for a new session
  std::string password = std::string(16, '\0');  ///< known only to a client and its server
};

/// Where a server listens: a port on 127.0.0.1 or on another numeric address.
struct Endpoint {
  Endpoint(std::uint16_t number) : port{number} {}  // NOLINT: a port says it all, mostly
  Endpoint(std::string host, std::uint16_t number) : address{std::move(host)}, port{number} {}
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
};

/// A connection to a server. Every call throws std::runtime_error when the deadline passes or the server closes the
/// connection.
class Connection {
 public:
  Connection(const Endpoint& server, Deadline deadline);

  void send(std::string_view bytes);
  [[nodiscard]] std::string receive_all();

  /// The handshake. The id in the reply is 0 if the server does not know the session (any more) or the password is
  /// wrong.
  void send_connect(const SessionName& session, std::int32_t timeout_ms);
  [[nodiscard]] SessionName receive_connected();

  /// A request and its reply, which is the error code; 0 for success.
  void send_request(Opcode opcode, const Record& body = {});
  [[nodiscard]] std::int32_t receive_reply();

 private:
  void send_frame(const Record& body);
  [[nodiscard]] std::string receive_frame();
  [[nodiscard]] std::string receive_exactly(std::size_t count);

  Descriptor socket_;
  Deadline deadline_;
};

/// The server's reply to a four-letter word.
[[nodiscard]] std::string four_letter_word(const Endpoint& server, std::string_view word, Deadline deadline);

/// Takes a session over and closes it. True: the server has confirmed it. False: the server does not know the session,
/// or the password is wrong. Also throws if the session's client takes it back in between.
[[nodiscard]] bool close_session(const Endpoint& server, const SessionName& session, Deadline deadline);

}  // namespace zklock::testing::wire
