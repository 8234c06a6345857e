// A copy of a part of the tree, kept up to date.
#pragma once

#include <zklock/client.hpp>
#include <zklock/event_stream.hpp>
#include <zklock/recipe_kit/wait_policy.hpp>
#include <zklock/recipes/caches/cache_event.hpp>
#include <zklock/recipes/caches/freshness.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace zklock {

using CacheEvents = EventStream<CacheEvent>;

/// What a cache holds. A step on a variable returns the variable, a step on a temporary a value.
class CacheOptions {
 public:
  static constexpr std::size_t all_levels = std::numeric_limits<std::size_t>::max();
  using Selector = std::function<bool(const std::string& path)>;

  CacheOptions() = default;

  /// 0: the node alone; 1: and its children; and so on. Without it: all levels.
  CacheOptions& depth(std::size_t levels) & { return set(depth_, levels); }
  CacheOptions depth(std::size_t levels) && { return std::move(depth(levels)); }
  /// Only nodes below the first one for which `accepts(path)` is true, and only what is below such nodes. It is called
  /// on the client's I/O executor: keep it short. It must neither throw nor call the cache.
  CacheOptions& select(Selector accepts) & { return set(selector_, std::move(accepts)); }
  CacheOptions select(Selector accepts) && { return std::move(select(std::move(accepts))); }
  /// Keeps no data, only each node's Stat.
  CacheOptions& without_data() & { return set(keeps_data_, false); }
  CacheOptions without_data() && { return std::move(without_data()); }
  /// Decodes the data with ClientConfig::codec.
  CacheOptions& decompressed() & { return set(decompressed_, true); }
  CacheOptions decompressed() && { return std::move(decompressed()); }
  /// Does not hold the first node itself.
  CacheOptions& without_root() & { return set(has_root_, false); }
  CacheOptions without_root() && { return std::move(without_root()); }

  [[nodiscard]] std::size_t depth() const noexcept { return depth_; }
  [[nodiscard]] bool accepts(const std::string& path) const { return !selector_ || selector_(path); }
  [[nodiscard]] bool keeps_data() const noexcept { return keeps_data_; }
  [[nodiscard]] bool is_decompressed() const noexcept { return decompressed_; }
  [[nodiscard]] bool has_root() const noexcept { return has_root_; }

 private:
  template <class T>
  CacheOptions& set(T& member, T value) {
    member = std::move(value);
    return *this;
  }

  std::size_t depth_ = all_levels;
  Selector selector_;
  bool keeps_data_ = true;
  bool decompressed_ = false;
  bool has_root_ = true;
};

namespace detail {
class CacheCore;
using CachePtr = std::shared_ptr<CacheCore>;
const ClientHandle& home_of(const CacheCore& cache);
void start_wait_initialized(CachePtr cache, WaitPolicy wait, Handler<> handler);
void start_refresh_cache(CachePtr cache, WaitPolicy wait, Handler<> handler);
void start_wait_seen(CachePtr cache, std::string path, std::int64_t mzxid, WaitPolicy wait, Handler<> handler);
}  // namespace detail

/// Keeps a copy of a node and of what is below it, over lost links and sessions: Curator's CuratorCache. It begins to
/// read when it is made, and gives its watches up when it is destroyed. It never creates anything: a node that is not
/// there is an empty cache until there is one. All reads go through the session of the first path.
///
/// Each node has two watches, an ephemeral one and one on the last level have one. The paths of all watches of a session
/// may have half of ClientConfig::max_buffer; what has no room is unreadable (too_many_watches), and the cache is never
/// live.
///
/// Threads: any thread may call anything but the destructor. Lookups never wait for the network.
class CuratorCache {
 public:
  /// Throws boost::system::system_error: Error::invalid_path.
  CuratorCache(const ClientHandle& client, std::string path, CacheOptions options);
  CuratorCache(const ClientHandle& client, std::string path);
  /// A temporary Client would be closed at once.
  template <class... Rest>
  CuratorCache(Client&&, Rest&&...) = delete;
  ~CuratorCache();
  CuratorCache(CuratorCache&&) noexcept = default;
  CuratorCache& operator=(CuratorCache&&) = delete;

  [[nodiscard]] const std::string& path() const;

  /// The node, as last read; null if there is none.
  [[nodiscard]] ChildDataPtr get(const std::string& path) const;
  /// The children of a node, by name.
  [[nodiscard]] std::map<std::string, ChildDataPtr> children(const std::string& path) const;
  /// All nodes. It does not change; the copy is made once for each state that is asked for.
  [[nodiscard]] std::shared_ptr<const CacheSnapshot> snapshot() const;
  [[nodiscard]] std::size_t size() const;
  /// `live`: the cache shows what the servers have, as soon as they tell. Asks no server.
  [[nodiscard]] Freshness freshness() const;
  /// A stream of changes; it begins with `created` for each node that is there. A program that applies them to an empty
  /// map has the snapshot. Parents come before their children, and go after them.
  [[nodiscard]] CacheEvents events() const;

  /// Waits until all that was there in the beginning has been read.
  ///
  /// Signature     void(error_code)
  /// Completes     when each of those nodes was read, or is shown as one that may not be read (no_auth); at once if that
  ///               is so already.
  /// Errors        Error::timed_out, Error::too_many_watches, Error::auth_failed, Error::closed, Error::closing (the
  ///               cache is destroyed), operation_aborted
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <class Rep, class Period, asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_initialized(std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_wait_initialized(detail::WaitPolicy::of(wait), std::forward<Token>(token));
  }
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_initialized(Token&& token = {}) const {
    return initiate_wait_initialized(detail::WaitPolicy{}, std::forward<Token>(token));
  }

  /// Waits until the cache is no older than this call, whatever it takes: a sync, and what has changed. Looks also at
  /// nodes of whose changes no watch may tell.
  ///
  /// Signature     void(error_code)
  /// Completes     when a sync that was sent after the call is answered, and all that had changed by then is read. A node
  ///               that may not be read (no_auth) is shown so, which is no failure.
  /// Errors        as async_wait_initialized: Error::too_many_watches, say, if a part cannot be followed, which may then
  ///               be older
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <class Rep, class Period, asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_refresh(std::chrono::duration<Rep, Period> wait, Token&& token = {}) const {
    return initiate_refresh(detail::WaitPolicy::of(wait), std::forward<Token>(token));
  }
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_refresh(Token&& token = {}) const {
    return initiate_refresh(detail::WaitPolicy{}, std::forward<Token>(token));
  }

  /// Waits until the cache shows what the transaction `mzxid` (Stat::mzxid of a write) has made of the node, or
  /// something later: for a client to read its own writes.
  ///
  /// Signature     void(error_code)
  /// Completes     at once if the node is known so; otherwise as async_refresh.
  /// Errors        as async_refresh
  /// Cancellation  terminal, partial, total.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <class Rep, class Period, asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_seen(std::string path, std::int64_t mzxid, std::chrono::duration<Rep, Period> wait,
                       Token&& token = {}) const {
    return initiate_wait_seen(std::move(path), mzxid, detail::WaitPolicy::of(wait), std::forward<Token>(token));
  }
  template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
  auto async_wait_seen(std::string path, std::int64_t mzxid, Token&& token = {}) const {
    return initiate_wait_seen(std::move(path), mzxid, detail::WaitPolicy{}, std::forward<Token>(token));
  }

  // The same, blocking: they throw boost::system::system_error with the errors above, and Error::blocking_in_handler on
  // a thread that the client's work needs. False: the time is up.

  void wait_initialized() const { static_cast<void>(wait_initialized(detail::WaitPolicy{})); }
  template <class Rep, class Period>
  [[nodiscard]] bool wait_initialized(std::chrono::duration<Rep, Period> wait) const {
    return wait_initialized(detail::WaitPolicy::of(wait));
  }
  void refresh() const { static_cast<void>(refresh(detail::WaitPolicy{})); }
  template <class Rep, class Period>
  [[nodiscard]] bool refresh(std::chrono::duration<Rep, Period> wait) const {
    return refresh(detail::WaitPolicy::of(wait));
  }
  void wait_seen(const std::string& path, std::int64_t mzxid) const {
    static_cast<void>(wait_seen(path, mzxid, detail::WaitPolicy{}));
  }
  template <class Rep, class Period>
  [[nodiscard]] bool wait_seen(const std::string& path, std::int64_t mzxid,
                               std::chrono::duration<Rep, Period> wait) const {
    return wait_seen(path, mzxid, detail::WaitPolicy::of(wait));
  }

 private:
  template <class Token>
  auto initiate_wait_initialized(detail::WaitPolicy wait, Token&& token) const {
    return detail::initiate<void(error_code), &detail::start_wait_initialized>(std::forward<Token>(token), core_, wait);
  }
  template <class Token>
  auto initiate_refresh(detail::WaitPolicy wait, Token&& token) const {
    return detail::initiate<void(error_code), &detail::start_refresh_cache>(std::forward<Token>(token), core_, wait);
  }
  template <class Token>
  auto initiate_wait_seen(std::string path, std::int64_t mzxid, detail::WaitPolicy wait, Token&& token) const {
    return detail::initiate<void(error_code), &detail::start_wait_seen>(std::forward<Token>(token), core_,
                                                                        std::move(path), mzxid, wait);
  }
  bool wait_initialized(detail::WaitPolicy wait) const;
  bool refresh(detail::WaitPolicy wait) const;
  bool wait_seen(const std::string& path, std::int64_t mzxid, detail::WaitPolicy wait) const;

  detail::CachePtr core_;
};

}  // namespace zklock
