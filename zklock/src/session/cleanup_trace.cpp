#include "cleanup_trace.hpp"

#include "session_core.hpp"

#include <boost/asio/error.hpp>

#include <atomic>
#include <utility>

namespace zklock::detail {

CleanupTrace::~CleanupTrace() { end(asio::error::operation_aborted); }

void CleanupTrace::begin(const Session& session, const std::string& path) {
  if (number_ != 0 || !session.core_ || !session.core_->observers()) return;
  const auto& config = session.core_->config();
  begin(config.observers, config.client_id, full_path(session.core_, path));
}

void CleanupTrace::begin(std::shared_ptr<const Observers<Observer>> observers, const std::string& client_id,
                         std::string path) {
  static std::atomic<std::uint64_t> cleanups{0};
  if (number_ != 0 || !observers) return;
  observers_ = std::move(observers);
  client_id_ = client_id;
  path_ = std::move(path);
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
