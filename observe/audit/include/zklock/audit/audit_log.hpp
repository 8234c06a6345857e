// An audit log: one line for each grant, release and loss of a lock, and for each gain and loss of a kept node.
// docs/audit.md
#pragma once

#include <zklock/error.hpp>
#include <zklock/observer.hpp>
#include <zklock/recipes/locks/lock_observer.hpp>
#include <zklock/recipes/nodes/node_observer.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spdlog::sinks {
class sink;
}

namespace zklock {

enum class AuditFormat : std::uint8_t {
  json_lines,  ///< one JSON object a line
  logfmt       ///< key=value, the same keys
};

struct AuditOptions {
  std::string file{};  ///< the records are appended to it; empty: to the sinks only
  /// The audit log calls them on its own thread, one call at a time, and sets their pattern to "%v".
  std::vector<std::shared_ptr<spdlog::sinks::sink>> sinks{};
  AuditFormat format = AuditFormat::json_lines;
  std::string service_name{};      ///< "service.name"; left out if empty
  std::string host_name{};         ///< "host.name"; empty: as the system names the host
  bool records_waiting = false;    ///< also when a waiter begins to wait for a node
  bool records_reentered = false;  ///< also each re-entry
  std::size_t queue_size = 8'192;  ///< how many records may wait to be written
};

/// A request to a holder to release its lock, made for a person or a program.
struct RevokeEvent {
  std::string_view asked_by{};   ///< the program that asks: "zklock revoke"
  std::string_view user_name{};  ///< the person, if known
  std::string_view node_path{};  ///< of the holder
  std::int64_t fencing_token = 0;
  error_code error{};          ///< none: the holder has been asked
  std::string_view refusal{};  ///< why nobody was asked, for people to read; then `error` does not count
};

/// Writes a record of each granted, released and lost lock, of each attempt that has timed out, failed or was
/// cancelled, of slow waits and of requests to revoke; and of each kept node that is there, is lost, is taken by
/// another client, fails, or ends. Pass it by ClientConfig::observers; one may hear several clients.
///
/// It never blocks the thread that tells it of a lock: if the queue is full, the new record is dropped and counted, and
/// the record "audit.dropped" says how many once there is room. A record is written within a second, that of a loss at
/// once. A process that crashes loses what is not written by then.
///
/// The destructor writes all that is left and waits for it. It does nothing in a forked child.
///
/// Threads: any.
class AuditLog final : public Observer, public LockObserver, public NodeObserver {
 public:
  /// Throws std::invalid_argument if there is neither a file nor a sink, if a sink is null or the queue has no room;
  /// spdlog::spdlog_ex if the file cannot be opened.
  explicit AuditLog(AuditOptions options);
  ~AuditLog() override;
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  void on_lock(const LockEvent& event) override;
  void on_node(const NodeEvent& event) override;
  void on_revoke(const RevokeEvent& event);

  /// How many records each sink has taken.
  [[nodiscard]] std::uint64_t records() const;
  /// How many records there was no room for, or a sink has refused with an exception, or could not flush.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace zklock
