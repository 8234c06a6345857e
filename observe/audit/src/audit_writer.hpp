// The thread that writes the audit log.
#pragma once

#include "audit_format.hpp"
#include "audit_queue.hpp"

#include <spdlog/sinks/sink.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace zklock::detail {

/// Writes what the queue has. Its destructor closes the queue, and returns when all is written.
class AuditWriter {
 public:
  using Sinks = std::vector<std::shared_ptr<spdlog::sinks::sink>>;

  /// The queue must outlive it.
  AuditWriter(AuditQueue& queue, AuditLayout layout, Sinks sinks);
  ~AuditWriter();
  AuditWriter(const AuditWriter&) = delete;
  AuditWriter& operator=(const AuditWriter&) = delete;

 private:
  void run();
  /// False: a sink has refused it.
  [[nodiscard]] bool write(const AuditRecord& record);

  AuditQueue& queue_;
  AuditLayout layout_;
  Sinks sinks_;
  std::string line_;
  std::thread thread_;
};

}  // namespace zklock::detail
