// HTTP requests and replies, as the code that answers them sees them.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zklock::web {

struct WebRequest {
  std::string method{};                                        ///< of HEAD, "GET"
  std::string path{};                                          ///< without the query
  std::vector<std::pair<std::string, std::string>> headers{};  ///< names in lower case
  std::string body{};

  /// The header's value; empty if it is missing, or there several times.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept;
  [[nodiscard]] bool has(std::string_view name) const noexcept;
};

struct WebReply {
  WebReply() = default;
  WebReply(unsigned with_status, std::string type, std::string text)
      : status{with_status}, content_type{std::move(type)}, body{std::move(text)} {}

  unsigned status = 200;
  std::string content_type{};
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};  ///< in addition to those that every reply has
};

[[nodiscard]] WebReply plain_text(unsigned status, std::string text);
[[nodiscard]] WebReply json_text(std::string text);

/// The value of a Host header without the port, in lower case: "[::1]:80" is "[::1]". Empty if it is malformed.
[[nodiscard]] std::string host_of(std::string_view header);

/// The events of one viewer.
class EventSource {
 public:
  virtual ~EventSource() = default;
  /// What is new since the last call, in the form of text/event-stream; empty if there is nothing.
  [[nodiscard]] virtual std::string next() = 0;
};

/// What the server serves.
class WebHandler {
 public:
  virtual ~WebHandler() = default;
  [[nodiscard]] virtual boost::asio::awaitable<WebReply> answer(WebRequest request) = 0;
  /// The stream for an accepted request of it; null: answer() says why not.
  [[nodiscard]] virtual std::unique_ptr<EventSource> open_stream(const WebRequest&) { return nullptr; }
};

/// The request for the stream of events.
inline constexpr std::string_view stream_path = "/api/stream";

}  // namespace zklock::web
