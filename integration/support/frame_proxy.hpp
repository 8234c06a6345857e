// A link to a server that knows ZooKeeper's frames: it can be held, refused, and cut at any of them.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace zklock::test {

/// ZooDefs.OpCode of the server. The first frame of a connection has none: it counts as `create_session`.
enum class Opcode : std::int32_t {
  create_session = -10,
  close_session = -11,
  create = 1,
  remove = 2,
  exists = 3,
  get_data = 4,
  set_data = 5,
  get_acl = 6,
  set_acl = 7,
  get_children = 8,
  sync = 9,
  ping = 11,  ///< the driver's heartbeats, which are reads of the root, count as such, too
  get_children2 = 12,
  check = 13,
  multi = 14,
  create2 = 15,
  reconfig = 16,
  check_watches = 17,
  remove_watches = 18,
  create_container = 19,
  create_ttl = 21,
  multi_read = 22,
  auth = 100,
  set_watches = 101,
  get_ephemerals = 103,
  get_all_children_number = 104,
  set_watches2 = 105,
  add_watch = 106
};

/// How far a request and its reply get before a cut.
enum class CutPoint {
  before_request,  ///< the server sees nothing of it
  inside_request,  ///< the server sees the first half
  after_request,   ///< the server sees it all; it has done it or will, and no client waits for that
  before_reply,    ///< the server has done it and said so; the client sees nothing of that
  inside_reply     ///< the client sees the reply's header, or all but the last byte of a reply that has nothing else
};

enum class CutManner { orderly, reset };  ///< FIN, with what was said before; RST, which may overtake it
enum class Afterwards { reconnect, refuse };
enum class Direction { requests, replies };

/// Where to cut: at the `nth` request of its kind from now on.
struct Cut {
  Opcode opcode = Opcode::create_session;
  CutPoint point = CutPoint::before_request;
  CutManner manner = CutManner::reset;
  Afterwards afterwards = Afterwards::reconnect;
  int nth = 1;
};

/// Forwards connections to a server on loopback until told otherwise. Runs a thread of its own.
///
/// Threads: any thread may call anything; a call has taken effect when it returns.
class FrameProxy {
 public:
  /// Listens on the address that the server listens on, or on another one, on a port of its own.
  explicit FrameProxy(std::uint16_t server_port, const std::string& host = "127.0.0.1");
  FrameProxy(std::uint16_t server_port, const std::string& host, const std::string& own_host);
  ~FrameProxy();
  FrameProxy(const FrameProxy&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }

  /// Cuts one connection, once, at this place. Replaces an earlier cut that was asked for.
  void cut_at(const Cut& cut);
  /// Cuts all connections. Held frames are lost; from now on no frame is held.
  void cut();
  /// From now on no frame of this direction arrives, except perhaps one that is being forwarded.
  void hold(Direction direction);
  /// The held frames arrive, and the next ones.
  void resume(Direction direction);
  /// From now on each frame takes that long, in either direction. Zero: no time.
  void slow_down(std::chrono::milliseconds delay);
  /// New connections are reset at once.
  void refuse();
  void accept_again();

  /// The connections that were forwarded.
  [[nodiscard]] int connections();
  /// The connections that were reset at once.
  [[nodiscard]] int refusals();
  /// The cuts made by cut_at.
  [[nodiscard]] int cuts();
  /// The requests of this kind that have come to the proxy.
  [[nodiscard]] int requests(Opcode opcode);

 private:
  using tcp = boost::asio::ip::tcp;
  struct Link;

  /// Lets a direction's frames pass while it is open.
  struct Gate {
    explicit Gate(boost::asio::io_context& context) : opened{context, boost::asio::steady_timer::time_point::max()} {}
    boost::asio::steady_timer opened;
    bool open = true;
    boost::asio::awaitable<void> pass();
    void set(bool to_open);
  };

  /// Lets a frame through after its delay.
  boost::asio::awaitable<void> pass(Direction direction);
  void run(const std::function<void()>& task);
  void accept();
  std::optional<Cut> note_request(Opcode opcode);
  void note_cut(const Cut& cut);
  Gate& gate(Direction direction) { return direction == Direction::requests ? requests_gate_ : replies_gate_; }

  boost::asio::io_context context_;
  tcp::endpoint server_;
  tcp::acceptor acceptor_;
  std::string address_;
  Gate requests_gate_{context_};
  Gate replies_gate_{context_};
  std::vector<std::weak_ptr<Link>> links_;
  std::optional<Cut> rule_;
  std::map<Opcode, int> seen_;
  std::chrono::milliseconds delay_{0};
  bool refusing_ = false;
  int connections_ = 0;
  int refusals_ = 0;
  int cuts_ = 0;
  std::thread thread_;
};

}  // namespace zklock::test
