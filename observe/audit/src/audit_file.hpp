// The audit log's own file.
#pragma once

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>

#include <string>

namespace zklock::detail {

/// Appends each record by a write of its own: what stdio keeps is lost without a word when the disk is full. What a
/// failed write leaves of a record gets a line of its own. Threads: the audit log's.
class AuditFile final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  /// Throws spdlog::spdlog_ex if the file cannot be opened.
  explicit AuditFile(const std::string& path);
  ~AuditFile() override;
  AuditFile(const AuditFile&) = delete;
  AuditFile& operator=(const AuditFile&) = delete;

 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}

  std::string path_;
  int file_;
  bool is_torn_ = false;  // the file ends within a record
};

}  // namespace zklock::detail
