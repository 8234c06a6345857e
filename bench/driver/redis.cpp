// Redis: SET NX PX, and a script that deletes the key if it is still the client's own. There is no wait queue: a client
// that finds the lock taken asks again.
#include "blocking_lock.hpp"

#include <stdexcept>

#include <hiredis/hiredis.h>
#include <unistd.h>

namespace zklock::bench {
namespace {

constexpr const char* compare_and_delete =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

class RedisLock : public BlockingLock {
 public:
  RedisLock(const std::string& server, std::string key, std::size_t waiter)
      : key_{std::move(key)}, token_{std::to_string(::getpid()) + "-" + std::to_string(waiter)} {
    const auto colon = server.rfind(':');
    context_.reset(redisConnect(server.substr(0, colon).c_str(), std::stoi(server.substr(colon + 1))));
    if (!context_ || context_->err != 0) throw std::runtime_error{"no connection to Redis"};
    script_ = ask(static_cast<redisReply*>(redisCommand(context_.get(), "SCRIPT LOAD %s", compare_and_delete)))->str;
  }
  bool acquire(const Window& window) override {
    while (!try_acquire()) {
      if (window.stopping()) return false;
    }
    return true;
  }
  bool try_acquire() override {
    const auto reply = ask(
        static_cast<redisReply*>(redisCommand(context_.get(), "SET %s %s NX PX 30000", key_.c_str(), token_.c_str())));
    return reply->type == REDIS_REPLY_STATUS;
  }
  void release() override {
    const auto reply = ask(static_cast<redisReply*>(
        redisCommand(context_.get(), "EVALSHA %s 1 %s %s", script_.c_str(), key_.c_str(), token_.c_str())));
    if (reply->integer != 1) throw std::runtime_error{"the lock was lost in Redis"};
  }

 private:
  struct FreeContext {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  struct FreeReply {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };
  using Reply = std::unique_ptr<redisReply, FreeReply>;

  [[nodiscard]] Reply ask(redisReply* given) const {
    Reply reply{given};
    if (!reply) throw std::runtime_error{std::string{"Redis: "} + context_->errstr};
    if (reply->type == REDIS_REPLY_ERROR) throw std::runtime_error{std::string{"Redis: "} + reply->str};
    return reply;
  }

  std::unique_ptr<redisContext, FreeContext> context_;
  std::string key_;
  std::string token_;
  std::string script_;
};

}  // namespace

LockFactory redis_locks(const Task& task) {
  return
      [task](std::size_t waiter) { return std::make_unique<RedisLock>(task.servers, task.lock_path(waiter), waiter); };
}

}  // namespace zklock::bench
