#include "audit_writer.hpp"

#include <spdlog/details/log_msg.h>

#include <utility>

#include <pthread.h>
#include <signal.h>

namespace zklock::detail {

AuditWriter::AuditWriter(AuditQueue& queue, AuditLayout layout, Sinks sinks)
    : queue_{queue}, layout_{std::move(layout)}, sinks_{std::move(sinks)} {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's signals are for its own threads
  try {
    thread_ = std::thread{[this] { run(); }};
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_setname_np(thread_.native_handle(), "zklock-audit");
}

AuditWriter::~AuditWriter() {
  queue_.close();
  thread_.join();
}

void AuditWriter::run() {
  while (const std::size_t batch = queue_.wait()) {
    std::size_t failed = 0;
    std::uint64_t untold = 0;
    for (std::size_t i = 0; i < batch; ++i) {
      const AuditRecord& record = queue_.at(i);
      if (write(record)) continue;
      ++failed;
      if (record.action == AuditAction::dropped) untold += record.dropped;
    }
    queue_.pop(batch, failed, untold);
  }
}

bool AuditWriter::write(const AuditRecord& record) {
  try {
    format_record(layout_, record, line_);
  } catch (...) {  // no memory
    return false;
  }
  const auto level = is_warning(record) ? spdlog::level::warn : spdlog::level::info;
  bool is_written = true;
  for (const auto& sink : sinks_) {
    try {
      if (!sink->should_log(level)) continue;
      sink->log({"zklock.audit", level, line_});
      sink->flush();  // only now it is known
    } catch (...) {   // a full disk; the others get it all the same
      is_written = false;
    }
  }
  return is_written;
}

}  // namespace zklock::detail
