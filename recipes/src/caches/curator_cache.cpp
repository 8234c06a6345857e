#include "blocking_call.hpp"
#include "cache_core.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/spawn.hpp>

namespace zklock {

using detail::CachePtr;
using detail::Handler;

namespace {

Awaitable<error_code> initialized(CachePtr cache) { co_return co_await cache->follow().wait_initialized(); }

Awaitable<error_code> refreshed(CachePtr cache) { co_return co_await cache->follow().refresh(); }

Awaitable<error_code> seen(CachePtr cache, std::string path, std::int64_t mzxid) {
  const ChildDataPtr known = cache->get(path);
  if (known && !known->error && known->stat.mzxid >= mzxid) co_return error_code{};
  co_return co_await cache->follow().refresh();
}

void spawn_wait(const CachePtr& cache, detail::WaitPolicy wait, Handler<> handler, Awaitable<error_code> body) {
  using Kind = detail::WaitPolicy::Kind;
  const Deadline deadline = wait.kind == Kind::forever ? Deadline{}
                            : wait.kind == Kind::until ? Deadline{wait.deadline}
                                                       : Deadline{Clock::now()};
  spawn_operation(cache->client().get_executor(), deadline, std::move(handler), std::move(body), cache);
}

}  // namespace

namespace detail {

const ClientHandle& home_of(const CacheCore& cache) { return cache.client(); }

void start_wait_initialized(CachePtr cache, WaitPolicy wait, Handler<> handler) {
  spawn_wait(cache, wait, std::move(handler), initialized(cache));
}

void start_refresh_cache(CachePtr cache, WaitPolicy wait, Handler<> handler) {
  spawn_wait(cache, wait, std::move(handler), refreshed(cache));
}

void start_wait_seen(CachePtr cache, std::string path, std::int64_t mzxid, WaitPolicy wait, Handler<> handler) {
  spawn_wait(cache, wait, std::move(handler), seen(cache, std::move(path), mzxid));
}

}  // namespace detail

CuratorCache::CuratorCache(const ClientHandle& client, std::string path, CacheOptions options) {
  validate_path(path);
  core_ = std::make_shared<detail::CacheCore>(client, std::move(path), std::move(options));
  core_->start();
}

CuratorCache::CuratorCache(const ClientHandle& client, std::string path)
    : CuratorCache{client, std::move(path), CacheOptions{}} {}

CuratorCache::~CuratorCache() {
  if (core_) core_->stop();
}

const std::string& CuratorCache::path() const { return detail::existing(core_).path(); }
ChildDataPtr CuratorCache::get(const std::string& path) const { return detail::existing(core_).get(path); }
std::map<std::string, ChildDataPtr> CuratorCache::children(const std::string& path) const {
  return detail::existing(core_).children(path);
}
std::shared_ptr<const CacheSnapshot> CuratorCache::snapshot() const { return detail::existing(core_).snapshot(); }
std::size_t CuratorCache::size() const { return detail::existing(core_).size(); }
Freshness CuratorCache::freshness() const { return detail::existing(core_).follow().freshness(); }
CacheEvents CuratorCache::events() const { return detail::existing(core_).subscribe(); }

bool CuratorCache::wait_initialized(detail::WaitPolicy wait) const {
  return detail::call_blocking(detail::existing(core_), "cache", wait,
                               [&](auto token) { initiate_wait_initialized(wait, std::move(token)); });
}

bool CuratorCache::refresh(detail::WaitPolicy wait) const {
  return detail::call_blocking(detail::existing(core_), "cache", wait,
                               [&](auto token) { initiate_refresh(wait, std::move(token)); });
}

bool CuratorCache::wait_seen(const std::string& path, std::int64_t mzxid, detail::WaitPolicy wait) const {
  return detail::call_blocking(detail::existing(core_), "cache", wait,
                               [&](auto token) { initiate_wait_seen(path, mzxid, wait, std::move(token)); });
}

}  // namespace zklock
