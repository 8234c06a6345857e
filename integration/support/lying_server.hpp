// A server that says what a test tells it to say, valid or not.
#pragma once

#include "frame_proxy.hpp"

#include <atomic>

namespace zklock::test {

/// A jute record under construction, as the server writes it.
class Bytes {
 public:
  Bytes& number(std::int32_t value) { return put(static_cast<std::uint32_t>(value), 4); }
  Bytes& long_number(std::int64_t value) { return put(static_cast<std::uint64_t>(value), 8); }
  Bytes& text(const std::string& value) {
    number(static_cast<std::int32_t>(value.size()));
    bytes_ += value;
    return *this;
  }
  /// The Stat of a node that is owned by this session, or by none.
  Bytes& stat(std::int64_t owner = 0);
  [[nodiscard]] const std::string& str() const { return bytes_; }

 private:
  Bytes& put(std::uint64_t value, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) bytes_ += static_cast<char>((value >> shift) & 0xff);
    return *this;
  }
  std::string bytes_;
};

/// What a peer may say in the place of a ZooKeeper server, or a broken one.
enum class Lie {
  none,
  zeros,             ///< where the handshake should be
  no_session,        ///< the handshake grants none
  no_timeout,        ///< the handshake grants no time
  negative_timeout,  ///< ... or less
  endless_timeout,
  short_password,
  http,              ///< another protocol
  half_a_handshake,  ///< and the end
  hang_up,           ///< after a good handshake
  unasked_reply,     ///< after a good handshake, as the rest
  unasked_after_ping,
  torn_event,
  short_frame,
  negative_length,
  in_two  ///< the truth, but each frame comes in two parts
};

/// Accepts each session, answers pings, and answers other requests with no_node unless it is told otherwise. Runs a
/// thread of its own.
class LyingServer {
 public:
  LyingServer();
  ~LyingServer();
  LyingServer(const LyingServer&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  /// From now on, requests of this kind get this error and this body.
  void answer(Opcode opcode, std::int32_t error, const Bytes& body = {});
  /// The next connections get this lie, so many of them.
  void lie(Lie lie, int times);
  /// Ends the connection that was made last.
  void hang_up();
  [[nodiscard]] int connections() const { return connections_; }

  static constexpr std::int64_t session_id = 0x1234;
  static constexpr std::chrono::duration<std::int32_t, std::milli> granted{6'000};

 private:
  using tcp = boost::asio::ip::tcp;
  struct Answer {
    std::int32_t error;
    std::string body;
  };

  boost::asio::awaitable<void> accept();
  boost::asio::awaitable<void> serve(std::shared_ptr<tcp::socket> socket, Lie lie);
  void run(const std::function<void()>& task);

  boost::asio::io_context context_;
  tcp::acceptor acceptor_;
  std::string address_;
  std::map<Opcode, Answer> answers_;
  Lie lie_ = Lie::none;
  int lies_left_ = 0;
  std::weak_ptr<tcp::socket> last_;
  std::atomic<int> connections_{0};
  std::thread thread_;
};

}  // namespace zklock::test
