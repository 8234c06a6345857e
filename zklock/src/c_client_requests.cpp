// Requests on their way in, replies and watch events on their way out.
#include "c_client_calls.hpp"
#include "c_client_driver.hpp"

#include <spdlog/spdlog.h>
#include <zookeeper/zookeeper.h>

#include <utility>

namespace zklock {

namespace {

void* to_context(std::uint64_t id) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(id));
}  // NOLINT: the C client's user data
std::uint64_t to_id(const void* context) { return reinterpret_cast<std::uintptr_t>(context); }

WatchKind watch_kind(Operation operation) {
  return operation == Operation::get_children ? WatchKind::children : WatchKind::data;
}

Stat to_stat(const ::Stat& stat) {
  const auto to_time = [](std::int64_t ms) {
    return std::chrono::system_clock::time_point{std::chrono::milliseconds{ms}};
  };
  return {.czxid = stat.czxid,
          .mzxid = stat.mzxid,
          .pzxid = stat.pzxid,
          .created = to_time(stat.ctime),
          .modified = to_time(stat.mtime),
          .version = stat.version,
          .cversion = stat.cversion,
          .aversion = stat.aversion,
          .ephemeral_owner = stat.ephemeralOwner,
          .data_length = stat.dataLength,
          .num_children = stat.numChildren};
}

}  // namespace

// ---- in
// ------------------------------------------------------------------------------------------------------------------

Driver::RequestId CClientDriver::submit(Request request, std::shared_ptr<ReplySink> sink,
                                        std::shared_ptr<WatchSink> watch) {
  const WatchTable::Id entry = watch ? watches_.begin(watch_kind(request.operation), request.path) : 0;
  const RequestId id = requests_.add({request.operation, std::move(sink), std::move(watch), entry});
  if (const error_code refused = send(request, id, entry)) answer(id, Reply{.error = refused});
  if (!delivering_) poke();
  return id;
}

error_code CClientDriver::send(const Request& request, RequestId id, WatchTable::Id watch_entry) {
  if (end_) return end_;
  // The library would keep it for later, and might then not know what became of it.
  if (!connected()) return make_error_code(Error::connection_loss);
  return from_rc(call(request, to_context(id), to_context(watch_entry)));
}

int CClientDriver::call(const Request& request, void* context, void* watch_context) {
  const CallScope scope{this};
  const char* path = request.path.c_str();
  const char* data = request.data.data();
  const int length = static_cast<int>(request.data.size());
  const watcher_fn watcher = watch_context ? &Callbacks::on_watch : nullptr;
  switch (request.operation) {
    case Operation::create:
      return zoo_acreate2_ttl(handle_, path, data, length, &ZOO_OPEN_ACL_UNSAFE, static_cast<int>(request.mode),
                              has_ttl(request.mode) ? request.ttl.count() : -1, &Callbacks::on_create, context);
    case Operation::remove: return zoo_adelete(handle_, path, request.version, &Callbacks::on_void, context);
    case Operation::exists: return zoo_awexists(handle_, path, watcher, watch_context, &Callbacks::on_stat, context);
    case Operation::get_data: return zoo_awget(handle_, path, watcher, watch_context, &Callbacks::on_data, context);
    case Operation::set_data:
      return zoo_aset(handle_, path, data, length, request.version, &Callbacks::on_stat, context);
    case Operation::get_children:
      return zoo_awget_children(handle_, path, watcher, watch_context, &Callbacks::on_children, context);
    case Operation::sync: return zoo_async(handle_, path, &Callbacks::on_sync, context);
  }
  return ZBADARGUMENTS;
}

/// The slot stays until the reply has come, which decides whether there is a watch to give up (20).
void CClientDriver::forget(RequestId id) {
  if (Pending* pending = requests_.find(id)) {
    pending->sink.reset();
    pending->watch.reset();
  }
}

// ---- out
// -----------------------------------------------------------------------------------------------------------------

void CClientDriver::answer(RequestId id, Reply reply) {
  std::optional<Pending> pending = requests_.take(id);
  if (!pending) return;
  if (pending->watch_entry) {
    const bool is_set = !reply.error || (pending->operation == Operation::exists && reply.error == Error::no_node);
    if (watches_.finish(pending->watch_entry, is_set, std::move(pending->watch)))
      unused_watches_.push_back(pending->watch_entry);
  }
  if (pending->sink) inbox_.push_back({.sink = std::move(pending->sink), .reply = std::move(reply), .watch = {}});
}

void CClientDriver::fire(WatchTable::Id entry, WatchEventType type) {
  for (auto& sink : watches_.fire(entry))
    inbox_.push_back({.sink = {}, .reply = {}, .watch = std::move(sink), .type = type});
}

void CClientDriver::end(error_code reason) {
  end_ = reason;
  for (const RequestId id : requests_.ids()) answer(id, Reply{.error = reason});
  for (auto& sink : watches_.drain())
    inbox_.push_back({.sink = {}, .reply = {.error = reason}, .watch = std::move(sink)});
  unused_watches_.clear();
}

// ---- giving watches up
// ---------------------------------------------------------------------------------------------------

void CClientDriver::forget_watch(const WatchSink& watch) {
  std::erase_if(inbox_, [&](const Event& event) { return event.watch.get() == &watch; });
  if (const auto entry = watches_.forget(watch)) drop_watch(*entry);
}

void CClientDriver::drop_unused_watches() {
  for (const WatchTable::Id entry : std::exchange(unused_watches_, {}))
    if (watches_.unused(entry)) drop_watch(entry);
}

/// Removing "all" watchers of the place is removing ours, the only one, and unlike removing one it also clears the
/// server's entry (133). A read sent after this sets its watch after it, here and at the server, since both go in the
/// order of the requests.
void CClientDriver::drop_watch(WatchTable::Id entry) {
  const std::optional<WatchTable::Place> place = watches_.end(entry);
  if (!place || finished()) return;
  const ZooWatcherType type = place->kind == WatchKind::data ? ZWATCHTYPE_DATA : ZWATCHTYPE_CHILD;
  const int local = connected() ? 0 : 1;  // a reconnect sets only what the library still knows
  const CallScope scope{this};
  const RequestId removal = local ? 0 : removals_.add(*place);
  const int rc = zoo_aremove_all_watches(
      handle_, place->path.c_str(), type, local,
      reinterpret_cast<void_completion_t*>(local ? nullptr : &Callbacks::on_watch_removed), to_context(removal));
  if (rc != ZOK) removals_.take(removal);
  if (!delivering_) poke();
}

void CClientDriver::removed_watch(RequestId removal, int rc) {
  const std::optional<WatchTable::Place> place = removals_.take(removal);
  if (!place || rc == ZOK || rc == ZNOWATCHER || finished() || watches_.in_use(*place)) return;
  const ZooWatcherType type = place->kind == WatchKind::data ? ZWATCHTYPE_DATA : ZWATCHTYPE_CHILD;
  zoo_aremove_all_watches(handle_, place->path.c_str(), type, 1, nullptr, nullptr);
}

// ---- what the library calls
// ----------------------------------------------------------------------------------------------

void CClientDriver::Callbacks::answer(const void* id, Reply reply) {
  if (current_)
    current_->answer(to_id(id), std::move(reply));  // nobody during zookeeper_close, when all have been answered
}

void CClientDriver::Callbacks::on_session(zhandle_t*, int, int, const char*, void*) noexcept {
}  // observe() looks at the state itself

void CClientDriver::Callbacks::on_watch(zhandle_t*, int type, int, const char*, void* context) noexcept {
  if (!current_ || type == ZOO_SESSION_EVENT) return;  // session events reach every watcher, many times (4.4)
  const WatchEventType seen = type == ZOO_CREATED_EVENT   ? WatchEventType::node_created
                              : type == ZOO_DELETED_EVENT ? WatchEventType::node_deleted
                              : type == ZOO_CHANGED_EVENT ? WatchEventType::node_data_changed
                                                          : WatchEventType::node_children_changed;
  current_->fire(to_id(context), seen);
}

void CClientDriver::Callbacks::on_create(int rc, const char* path, const ::Stat* stat, const void* id) noexcept {
  Reply reply{.error = from_rc(rc)};
  if (rc == ZOK) {
    reply.path = path;
    reply.stat = to_stat(*stat);
  }
  answer(id, std::move(reply));
}

void CClientDriver::Callbacks::on_stat(int rc, const ::Stat* stat, const void* id) noexcept {
  Reply reply{.error = from_rc(rc)};
  if (rc == ZOK) reply.stat = to_stat(*stat);
  answer(id, std::move(reply));
}

void CClientDriver::Callbacks::on_data(int rc, const char* data, int length, const ::Stat* stat,
                                       const void* id) noexcept {
  Reply reply{.error = from_rc(rc)};
  if (rc == ZOK) {
    if (data && length > 0) reply.data.assign(data, static_cast<std::size_t>(length));  // length -1: null data (132)
    reply.stat = to_stat(*stat);
  }
  answer(id, std::move(reply));
}

void CClientDriver::Callbacks::on_children(int rc, const ::String_vector* names, const void* id) noexcept {
  Reply reply{.error = from_rc(rc)};
  if (rc == ZOK) reply.children.assign(names->data, names->data + names->count);
  answer(id, std::move(reply));
}

void CClientDriver::Callbacks::on_void(int rc, const void* id) noexcept { answer(id, Reply{.error = from_rc(rc)}); }

void CClientDriver::Callbacks::on_sync(int rc, const char*, const void* id) noexcept {
  answer(id, Reply{.error = from_rc(rc)});
}

void CClientDriver::Callbacks::on_watch_removed(int rc, const void* id) noexcept {
  if (current_) current_->removed_watch(to_id(id), rc);
}

void CClientDriver::Callbacks::log(const char* line) noexcept {
  if (current_ && current_->options_.logger) current_->options_.logger->warn("zookeeper: {}", line);
}

}  // namespace zklock
