// The library's callbacks.
#include "c_client_calls.hpp"
#include "c_client_driver.hpp"
#include "c_client_multi.hpp"
#include "library_line.hpp"

#include <spdlog/spdlog.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <utility>

namespace zklock {

void CClientDriver::Callbacks::answer(const void* id, Reply reply) {
  if (current_)
    current_->answer_from_server(to_id(id),
                                 std::move(reply));  // null during zookeeper_close: all requests are answered then
}

void CClientDriver::Callbacks::on_session(zhandle_t*, int, int, const char*, void*) noexcept {
}  // observe() reads the state itself

void CClientDriver::Callbacks::on_watch(zhandle_t*, int type, int, const char* path, void*) noexcept {
  if (!current_ || type == ZOO_SESSION_EVENT) return;  // reach every watcher, many times (docs/driver.md 4.4)
  const WatchEventType seen = type == ZOO_CREATED_EVENT   ? WatchEventType::node_created
                              : type == ZOO_DELETED_EVENT ? WatchEventType::node_deleted
                              : type == ZOO_CHANGED_EVENT ? WatchEventType::node_data_changed
                                                          : WatchEventType::node_children_changed;
  current_->fire(path, seen);
}

namespace {

/// The library does not report that it cannot read a reply: missing parts are null then.
bool is_whole(const ::String_vector& names) {
  return names.count == 0 ||
         (names.count > 0 && names.data &&
          std::all_of(names.data, names.data + names.count, [](const char* name) { return name != nullptr; }));
}
bool is_whole(const ::ACL_vector& acl) {
  return acl.count == 0 ||
         (acl.count > 0 && acl.data &&
          std::all_of(acl.data, acl.data + acl.count, [](const ::ACL& e) { return e.id.scheme && e.id.id; }));
}

}  // namespace

void CClientDriver::Callbacks::on_create(int rc, const char* path, const ::Stat* stat, const void* id) noexcept {
  Reply reply{.error = from_rc(rc)};
  if (rc == ZOK && !path) {
    reply.error = make_error_code(Error::protocol_error);
  } else if (rc == ZOK) {
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
    if (data && length > 0) reply.data.assign(data, static_cast<std::size_t>(length));  // length -1: null data [F132]
    reply.stat = to_stat(*stat);
  }
  answer(id, std::move(reply));
}

void CClientDriver::Callbacks::on_children(int rc, const ::String_vector* names, const ::Stat* stat,
                                           const void* id) noexcept {
  Reply reply{.error = from_rc(rc)};
  if (rc == ZOK && !is_whole(*names)) {
    reply.error = make_error_code(Error::protocol_error);
  } else if (rc == ZOK) {
    reply.children.assign(names->data, names->data + names->count);
    reply.stat = to_stat(*stat);
  }
  answer(id, std::move(reply));
}

void CClientDriver::Callbacks::on_acl(int rc, ::ACL_vector* acl, ::Stat* stat, const void* id) noexcept {
  Reply reply{.error = from_rc(rc)};
  if (rc == ZOK && !is_whole(*acl)) {
    reply.error = make_error_code(Error::protocol_error);
  } else if (rc == ZOK) {
    for (int i = 0; i < acl->count; ++i) {
      const ::ACL& entry = acl->data[i];
      reply.acl.emplace_back(static_cast<Permission>(entry.perms), entry.id.scheme, entry.id.id);
    }
    reply.stat = to_stat(*stat);
  }
  answer(id, std::move(reply));
}

void CClientDriver::Callbacks::on_multi(int rc, const void* id) noexcept {
  if (current_) current_->answer_multi(to_id(id), rc);
}

void CClientDriver::Callbacks::on_void(int rc, const void* id) noexcept { answer(id, Reply{.error = from_rc(rc)}); }

void CClientDriver::Callbacks::on_sync(int rc, const char*, const void* id) noexcept {
  answer(id, Reply{.error = from_rc(rc)});
}

void CClientDriver::Callbacks::log(const char* line) noexcept {
  if (!current_) return;
  current_->note_trouble(without_origin(line));
  current_->log_line(line);
}

void CClientDriver::log_line(std::string_view line) {
  if (!options_.logger || !options_.logger->should_log(spdlog::level::warn)) return;
  const auto held_back = attempts_.log_limit().admit(Clock::now());
  if (!held_back) return;
  log_lines_.emplace_back(without_stamp(line));
  if (*held_back > 0) log_lines_.back() += " (" + std::to_string(*held_back) + " lines before it held back)";
}

/// While no server can be reached, the library logs this several times a second. The lines beyond the limit become a
/// count, and the last count is logged once a server is of use again.
void CClientDriver::write_log() noexcept {
  if (attempts_.is_well())
    if (const std::size_t held_back = attempts_.log_limit().take_held_back())
      log_lines_.push_back(std::to_string(held_back) + " lines held back");
  if (log_lines_.empty()) return;
  for (const std::string& line : std::exchange(log_lines_, {}))
    options_.logger->warn("zklock: session={:#x} zookeeper: {}", static_cast<std::uint64_t>(credentials_.id), line);
}

}  // namespace zklock
