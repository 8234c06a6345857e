// Sends requests; queues replies and watch events.
#include "c_client_calls.hpp"
#include "c_client_driver.hpp"
#include "c_client_multi.hpp"

#include <spdlog/spdlog.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <utility>

namespace zklock {

namespace {

int remove_watches(zhandle_t* handle, const WatchPlace& place, int local, void_completion_t completion,
                   const void* context) {
  const ZooWatcherType type = place.kind == WatchKind::data ? ZWATCHTYPE_DATA : ZWATCHTYPE_CHILD;
  return zoo_aremove_all_watches(handle, place.path.c_str(), type, local,
                                 reinterpret_cast<void_completion_t*>(completion), context);
}

}  // namespace

// ---- requests

Driver::RequestId CClientDriver::submit(Request request, std::shared_ptr<ReplySink> sink,
                                        std::shared_ptr<WatchSink> watch) {
  WatchTable::Read read;
  bool affordable = true;
  if (watch) {
    WatchPlace place{watch_kind(request.operation), request.path};
    affordable = watches_.has_room_for(place);
    if (affordable) read = watches_.begin(std::move(place));
  }
  const RequestId id = requests_.add({.sink = std::move(sink),
                                      .watch = std::move(watch),
                                      .watching = read,
                                      .watches_missing = request.operation == Operation::exists,
                                      .goes_to_leader = goes_to_leader(request.operation),
                                      .form = form_of(request.operation),
                                      .sent = Clock::now()});
  const error_code refused =
      affordable ? send(request, id, static_cast<bool>(read)) : make_error_code(Error::too_many_watches);
  if (refused) answer(id, Reply{.error = refused});
  if (!replies_.is_delivering()) wake();
  return id;
}

error_code CClientDriver::send(Request& request, RequestId id, bool watches) {
  if (end_) return end_;
  // The library would keep it for later, and might then not know its outcome.
  if (!connected()) return make_error_code(Error::not_connected);
  return from_rc(transmit(id, [&] { return call(request, id, watches); }));
}

/// The one way of a request to the library: what is sent here, and answered in answer_from_server(), is contact with
/// the servers, whatever it is for.
template <class Call>
int CClientDriver::transmit(RequestId id, Call call) {
  readiness_.cork();  // uncorked in the iteration that follows
  const CallScope scope{this};
  liveness_.on_sent(requests_.find(id)->sent);
  const int rc = call();
  if (rc == ZOK) unanswered_.push_back(id);
  return rc;
}

/// All watches have the same function and context: with a context for each, the library would compare each with each
/// whenever the connection changes (docs/driver.md 4.4).
int CClientDriver::call(Request& request, RequestId id, bool watches) {
  const char* path = request.path.c_str();
  const int length = static_cast<int>(request.data.size());
  void* const context = to_context(id);
  const watcher_fn watcher = watches ? &Callbacks::on_watch : nullptr;
  switch (request.operation) {
    case Operation::create: return call_create(request, context);
    case Operation::remove: return zoo_adelete(handle_, path, request.version, &Callbacks::on_void, context);
    case Operation::exists: return zoo_awexists(handle_, path, watcher, nullptr, &Callbacks::on_stat, context);
    case Operation::get_data: return zoo_awget(handle_, path, watcher, nullptr, &Callbacks::on_data, context);
    case Operation::set_data:
      return zoo_aset(handle_, path, request.data.data(), length, request.version, &Callbacks::on_stat, context);
    case Operation::get_children:
      return zoo_awget_children2(handle_, path, watcher, nullptr, &Callbacks::on_children, context);
    case Operation::get_acl: return zoo_aget_acl(handle_, path, &Callbacks::on_acl, context);
    case Operation::set_acl: {
      const NativeAcl acl{request.acl};
      return zoo_aset_acl(handle_, path, request.version, const_cast<::ACL_vector*>(acl.get()), &Callbacks::on_void,
                          context);
    }
    case Operation::sync: return zoo_async(handle_, path, &Callbacks::on_sync, context);
    case Operation::multi: return call_multi(request, id);
    case Operation::check: break;  // only as a part of a multi
  }
  return ZBADARGUMENTS;
}

int CClientDriver::call_create(const Request& request, void* context) {
  const NativeAcl acl{request.acl};
  return zoo_acreate2_ttl(handle_, request.path.c_str(), request.data.data(), static_cast<int>(request.data.size()),
                          acl.get(), static_cast<int>(request.mode), has_ttl(request.mode) ? request.ttl.count() : -1,
                          &Callbacks::on_create, context);
}

int CClientDriver::call_multi(Request& request, RequestId id) {
  auto multi = std::make_shared<MultiCall>(std::move(request.parts));
  requests_.find(id)->multi = multi;
  unanswered_multis_.push_back(multi);
  return multi->submit(handle_, &Callbacks::on_multi, to_context(id));
}

/// The slot stays until the reply has come, which shows whether there is a watch to give up [F20].
void CClientDriver::forget(RequestId id) {
  if (Pending* pending = requests_.find(id)) {
    pending->sink.reset();
    pending->watch.reset();
  }
}

// ---- replies and events

void CClientDriver::answer(RequestId id, Reply reply) {
  std::optional<Pending> pending = requests_.take(id);
  if (!pending) return;
  if (!unanswered_.empty() && unanswered_.front() == id)
    unanswered_.pop_front();  // each but one that was not sent is the first
  if (pending->removal) return removed_watch(*pending->removal, reply.error);
  if (pending->watching) {
    const bool is_set = !reply.error || (pending->watches_missing && reply.error == Error::no_node);
    if (watches_.finish(pending->watching, is_set, std::move(pending->watch)))
      unused_watches_.push_back(pending->watching.place());
  }
  if (pending->sink) replies_.add_reply(std::move(pending->sink), std::move(reply));
}

/// The library also calls back for requests that it could not send or has lost; only a server's reply proves a contact.
void CClientDriver::answer_from_server(RequestId id, Reply reply) {
  if (reply.error == Error::session_closed_require_sasl_auth) {  // the server has ended the session, and would the next
    is_refused_ = true;
    note_trouble(reply.error.message());
    cause_is_known_ = true;
    reply.error = make_error_code(Error::auth_failed);
  }
  const Pending* pending = requests_.find(id);
  if (pending && (!reply.error || outcome_of(reply.error) == Outcome::not_applied)) {
    liveness_.on_reply(pending->sent);
    attempts_.on_answer();
  }
  if (pending && !reply.error && pending->goes_to_leader) liveness_.on_acknowledged(pending->sent);
  answer(id, std::move(reply));
}

void CClientDriver::answer_multi(RequestId id, int rc) {
  const Pending* pending = requests_.find(id);
  if (!pending || !pending->multi) return;
  const std::shared_ptr<MultiCall> multi = pending->multi;
  const auto oldest = std::ranges::find(unanswered_multis_, multi);  // as replies keep the order of the requests
  if (oldest != unanswered_multis_.end()) unanswered_multis_.erase(oldest);
  answer_from_server(id, multi->to_reply(rc));
}

/// The library calls back once for both watches of a node that was deleted.
void CClientDriver::fire(const char* path, WatchEventType type) {
  const auto fire_one = [&](WatchKind kind) {
    const WatchPlace place{kind, path};
    for (auto& sink : watches_.fire(place)) replies_.add_event(std::move(sink), place, type);
  };
  if (type != WatchEventType::node_children_changed) fire_one(WatchKind::data);
  if (type == WatchEventType::node_children_changed || type == WatchEventType::node_deleted)
    fire_one(WatchKind::children);
}

void CClientDriver::end(error_code reason) {
  end_ = reason;
  unanswered_.clear();
  for (const RequestId id : requests_.ids()) answer(id, Reply{.error = reason});
  for (auto& sink : watches_.drain()) replies_.add_end(std::move(sink), reason);
  unused_watches_.clear();
}

// ---- watches that are given up

/// The watch's event may be in the queue, among thousands: the sink knows that it is not wanted.
void CClientDriver::forget_watch(const WatchSink& watch, const WatchPlace& place) {
  watches_.forget(watch, place);
  drop_watch(place);
}

void CClientDriver::drop_unused_watches() {
  for (const WatchPlace& place : std::exchange(unused_watches_, {})) drop_watch(place);
}

/// Removing "all" watchers of the place removes zklock's, the only one. Unlike the removal of one watcher it also
/// clears the server's entry [F133]. A read that is sent later sets its watch after the removal, in the library and at
/// the server, since both follow the order of the requests.
void CClientDriver::drop_watch(const WatchPlace& place) {
  if (!watches_.end(place) || stopped_ || !handle_) return;
  if (!connected()) return remove_locally(place);
  const RequestId id = requests_.add({.sent = Clock::now(), .removal = place});
  const int rc = transmit(id, [&] { return remove_watches(handle_, place, 0, &Callbacks::on_void, to_context(id)); });
  if (rc != ZOK) answer(id, Reply{.error = from_rc(rc)});
  if (!replies_.is_delivering()) wake();
}

/// A removal that failed leaves the library's watch, which a reconnect would set again.
void CClientDriver::removed_watch(const WatchPlace& place, error_code error) {
  if (!error || error == Error::no_watcher || end_ || stopped_ || !handle_ || watches_.adopt(place)) return;
  remove_locally(place);
}

/// A reconnect sets only the watches that the library still knows.
void CClientDriver::remove_locally(const WatchPlace& place) {
  std::optional<CallScope> scope;
  if (current_ != this) scope.emplace(this);  // or this is a callback
  remove_watches(handle_, place, 1, nullptr, nullptr);
}

}  // namespace zklock
