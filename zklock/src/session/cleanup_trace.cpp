#include "cleanup_trace.hpp"

#include "session_core.hpp"

#include <boost/asio/error.hpp>

#include <atomic>
#include <utility>

namespace zklock::detail {

CleanupTrace::CleanupTrace(std::shared_ptr<const Observers<Observer>> observers, const std::string& client_id,
                           std::string path)
    : observers_{std::move(observers)} {
  if (!observers_) return;
  client_id_ = client_id;
  path_ = std::move(path);
}

CleanupTrace::CleanupTrace(const Session& session, const std::string& path) {
  if (!session.core_ || !session.core_->observers()) return;
  observers_ = session.core_->config().observers;
  client_id_ = session.core_->config().client_id;
  path_ = full_path(session.core_, path);
}

CleanupTrace::~CleanupTrace() { end(asio::error::operation_aborted); }

void CleanupTrace::begin() {
  static std::atomic<std::uint64_t> cleanups{0};
  if (!observers_ || number_ != 0) return;
  number_ = ++cleanups;
  began_ = Clock::now();
  CleanupEvent event;
  event.number = number_;
  event.client_id = client_id_;
  event.path = path_;
  observers_->tell(&Observer::on_cleanup, event);
}

void CleanupTrace::end(error_code error) {
  if (!observers_ || number_ == 0) return;
  CleanupEvent event;
  event.phase = CleanupPhase::done;
  event.number = std::exchange(number_, 0);
  event.client_id = client_id_;
  event.path = path_;
  event.error = error;
  event.took = Clock::now() - began_;
  observers_->tell(&Observer::on_cleanup, event);
}

}  // namespace zklock::detail
