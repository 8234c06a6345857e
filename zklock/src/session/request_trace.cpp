#include "request_trace.hpp"

#include <atomic>
#include <numeric>
#include <utility>

namespace zklock::detail {

namespace {

template <class Message>
std::size_t bytes_of(const Message& message) noexcept {
  return std::accumulate(message.parts.begin(), message.parts.end(), message.data.size(),
                         [](std::size_t sum, const Message& part) { return sum + part.data.size(); });
}

bool has_stat(Operation operation) noexcept {
  switch (operation) {
    case Operation::create:
    case Operation::exists:
    case Operation::get_data:
    case Operation::set_data:
    case Operation::get_children:
    case Operation::get_acl: return true;
    case Operation::remove:
    case Operation::set_acl:
    case Operation::sync:
    case Operation::check:
    case Operation::multi: break;
  }
  return false;
}

}  // namespace

void RequestTrace::begin(const SessionCore& session, const Request& request) {
  static std::atomic<std::uint64_t> requests{0};
  number_ = ++requests;
  began_ = Clock::now();
  sent_ = bytes_of(request);
  RequestEvent event;
  event.number = number_;
  event.client_id = session.config().client_id;
  event.session_id = session.credentials().id;
  event.operation = to_string(request.operation);
  event.path = request.path;
  event.sent = sent_;
  session.observers()->tell(&Observer::on_request, event);
}

RequestTrace::Content RequestTrace::content_of(const Reply& reply) noexcept {
  return {bytes_of(reply), reply.children.size()};
}

void RequestTrace::end(const SessionCore& session, const RequestName& about, const Reply& reply, Content content,
                       bool sets_watch) {
  RequestEvent event;
  event.phase = RequestPhase::ended;
  event.number = std::exchange(number_, 0);
  event.client_id = session.config().client_id;
  event.session_id = session.credentials().id;
  event.operation = to_string(about.operation);
  event.path = about.path;
  event.sent = sent_;
  event.error = reply.error;
  event.took = Clock::now() - began_;
  event.received = content.bytes;
  if (about.operation == Operation::get_children && !reply.error) event.children = content.children;
  event.sets_watch = sets_watch;
  const bool is_there = reply.stat.czxid != 0;  // an exists of a missing node succeeds
  if (!reply.error && is_there && has_stat(about.operation)) event.stat = &reply.stat;
  session.observers()->tell(&Observer::on_request, event);
}

}  // namespace zklock::detail
