// Many watches with one listener.
#pragma once

#include <zklock/results.hpp>
#include <zklock/session.hpp>
#include <zklock/watch_event.hpp>

#include <memory>
#include <optional>
#include <string>

namespace zklock {

namespace detail {
class WatchSetCore;
}

/// Is told of the events of a WatchSet.
///
/// Threads: the session's serial executor.
class WatchListener {
 public:
  WatchListener() = default;
  WatchListener(const WatchListener&) = delete;
  virtual ~WatchListener() = default;

  /// Not called at the end of the session.
  virtual void on_watch_event(WatchKind kind, const WatchEvent& event) = 0;
};

/// Reads nodes of one session with watches, and tells one listener of their events. Such a watch has no object of its
/// own, as a Watch has, only its place among the session's watches. Copies share the set.
///
/// The operations are those of Session, but that nothing cancels them, and that the handler runs on the session's serial
/// executor. A watch that they set goes with its event, or when it is forgotten.
///
/// Threads: the session's serial executor.
class WatchSet {
 public:
  /// An empty handle, without a session.
  WatchSet() noexcept = default;
  WatchSet(const Session& session, std::weak_ptr<WatchListener> listener);

  void exists(std::string path, detail::Handler<std::optional<Stat>> handler) const;
  void get_data(std::string path, detail::Handler<DataResult> handler) const;
  void get_children(std::string path, detail::Handler<ChildrenResult> handler) const;
  /// Gives the watch up, if there is one. The listener may still be told of an event that has already happened.
  void forget(WatchKind kind, const std::string& path) const;
  /// The listener is told nothing more.
  void close() noexcept;

 private:
  std::shared_ptr<detail::WatchSetCore> core_;
};

}  // namespace zklock
