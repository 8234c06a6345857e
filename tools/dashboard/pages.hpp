// What the dashboard serves.
#pragma once

#include "access.hpp"
#include "live_board.hpp"
#include "web.hpp"

#include <zklock/audit/audit_log.hpp>
#include <zklock/client.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace zklock::tools {

struct PageOptions {
  AccessRules access{};
  std::vector<std::string> bases{};
  bool may_revoke = false;
  std::shared_ptr<AuditLog> audit{};  ///< of the requests to revoke; null: none
};

/// The page, its events, and what it may ask for. Nothing here waits for ZooKeeper but a revocation.
class Pages : public WebHandler {
 public:
  Pages(PageOptions options, LiveBoard& board, ClientHandle client, BoardFeed& feed)
      : options_{std::move(options)}, board_{board}, client_{std::move(client)}, feed_{feed} {}

  /// The port is known once the server listens.
  void set_port(std::uint16_t port) { options_.access.port = port; }

  [[nodiscard]] boost::asio::awaitable<WebReply> answer(WebRequest request) override;
  [[nodiscard]] std::unique_ptr<EventSource> open_stream(const WebRequest& request) override;

 private:
  [[nodiscard]] WebReply log_in(const WebRequest& request) const;
  [[nodiscard]] WebReply set_view(const WebRequest& request);
  [[nodiscard]] WebReply ready() const;
  [[nodiscard]] boost::asio::awaitable<WebReply> revoke(std::string node, std::string czxid);
  [[nodiscard]] boost::asio::awaitable<void> slow_down();
  void record(const RevokeEvent& event) const;

  PageOptions options_;
  LiveBoard& board_;
  ClientHandle client_;
  BoardFeed& feed_;
  std::size_t wrong_tokens_ = 0;
};

}  // namespace zklock::tools
