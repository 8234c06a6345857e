// What SharedValue and its kind are made of: requests in bytes, and their conversion. For zklock's own headers.
#pragma once

#include <zklock/recipe_kit/recipe_core.hpp>
#include <zklock/recipe_kit/spawn.hpp>
#include <zklock/recipes/caches/watching.hpp>
#include <zklock/recipes/shared/versioned_value.hpp>
#include <zklock/results.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace zklock::detail {

class SharedValueCore;
using SharedValuePtr = std::shared_ptr<SharedValueCore>;

/// Throws Error::invalid_path.
[[nodiscard]] SharedValuePtr make_shared_value(const ClientHandle& client, std::string path, std::string seed);

class SharedValueCore final : public RecipeCore {
 public:
  SharedValueCore(const ClientHandle& client, std::string path, std::string seed)
      : RecipeCore{client, std::move(path)}, seed_{std::move(seed)} {}
  [[nodiscard]] const std::string& seed() const noexcept { return seed_; }

 private:
  std::string seed_;
};

struct Expected {
  std::int32_t version = 0;
  std::int64_t czxid = 0;  ///< 0: unknown
};
struct RawExchange {
  bool is_set = false;
  bool is_another_node = false;
  std::optional<DataResult> current{};
};

void start_get_shared_value(SharedValuePtr shared, Handler<DataResult> handler);
void start_set_shared_value(SharedValuePtr shared, std::string data, Handler<Stat> handler);
void start_compare_and_set_shared_value(SharedValuePtr shared, Expected expected, std::string data,
                                        Handler<RawExchange> handler);

// blocking
[[nodiscard]] DataResult get_shared_value(const SharedValuePtr& shared);
Stat set_shared_value(const SharedValuePtr& shared, std::string data);
[[nodiscard]] RawExchange compare_and_set_shared_value(const SharedValuePtr& shared, Expected expected,
                                                       std::string data);

template <class T>
VersionedValue<T> versioned(T value, const Stat& stat) {
  return {std::move(value), stat.version, stat.mzxid, stat.czxid};
}

template <class Codec>
Result<VersionedValue<typename Codec::Value>> decoded(DataResult read, const typename Codec::Value& seed) {
  auto value = Codec::decode(std::move(read.data), seed);
  if (!value) return make_error_code(Error::invalid_data);
  return versioned(std::move(*value), read.stat);
}

/// A handler of `Raw` that passes on what `convert` makes of it.
template <class Raw, class To, class Convert>
Handler<Raw> converted(Handler<To> handler, Convert convert) {
  auto slot = asio::get_associated_cancellation_slot(handler);
  return asio::bind_cancellation_slot(
      slot, [handler = std::move(handler), convert = std::move(convert)](error_code error, Raw raw) mutable {
        if (error) return std::move(handler)(error, To{});
        auto result = convert(std::move(raw));
        if (!result) return std::move(handler)(result.error(), To{});
        std::move(handler)(error_code{}, std::move(*result));
      });
}

template <class Codec>
Result<Exchange<typename Codec::Value>> to_exchange(RawExchange raw, const typename Codec::Value& seed) {
  Exchange<typename Codec::Value> exchange{raw.is_set, raw.is_another_node, {}};
  if (!raw.current) return exchange;
  auto current = decoded<Codec>(std::move(*raw.current), seed);
  if (!current) return current.error();
  exchange.current = std::move(*current);
  return exchange;
}

template <class Codec>
void start_get_value(SharedValuePtr shared, typename Codec::Value seed,
                     Handler<VersionedValue<typename Codec::Value>> handler) {
  auto convert = [seed = std::move(seed)](DataResult read) { return decoded<Codec>(std::move(read), seed); };
  start_get_shared_value(std::move(shared), converted<DataResult>(std::move(handler), std::move(convert)));
}

template <class Codec>
void start_set_value(SharedValuePtr shared, typename Codec::Value value,
                     Handler<VersionedValue<typename Codec::Value>> handler) {
  std::string data = Codec::encode(value);
  auto convert = [value = std::move(value)](const Stat& stat) -> Result<VersionedValue<typename Codec::Value>> {
    return versioned(value, stat);
  };
  start_set_shared_value(std::move(shared), std::move(data), converted<Stat>(std::move(handler), std::move(convert)));
}

template <class Codec>
void start_exchange(SharedValuePtr shared, Expected expected, typename Codec::Value next, typename Codec::Value seed,
                    Handler<Exchange<typename Codec::Value>> handler) {
  auto convert = [seed = std::move(seed)](RawExchange raw) { return to_exchange<Codec>(std::move(raw), seed); };
  start_compare_and_set_shared_value(std::move(shared), expected, Codec::encode(next),
                                     converted<RawExchange>(std::move(handler), std::move(convert)));
}

/// The changes of a node's data as changes of a value.
template <class Codec>
class ValueSource final : public EventSource<ValueChange<typename Codec::Value>> {
 public:
  using Value = typename Codec::Value;
  using Event = ValueChange<Value>;

  ValueSource(const ClientHandle& client, std::shared_ptr<EventSource<DataChange>> changes, Value seed)
      : EventSource<Event>{client}, changes_{std::move(changes)}, seed_{std::move(seed)} {}

  /// It is converted on the serial executor, wherever the handler runs.
  void next(Handler<Event> handler) override {
    changes_->next(converted<DataChange>(std::move(handler), [seed = seed_](DataChange change) -> Result<Event> {
      return to_event(std::move(change), seed);
    }));
  }
  std::pair<error_code, std::optional<Event>> take(Deadline deadline) override {
    auto [error, change] = changes_->take(deadline);
    if (!change) return {error, std::nullopt};
    return {error, to_event(std::move(*change), seed_)};
  }
  void cancel() override { changes_->cancel(); }
  void abandon() noexcept override { changes_->abandon(); }

 private:
  static Event to_event(DataChange change, const Value& seed) {
    Event event{{}, change.skipped, change.error};
    if (!change.node) return event;
    if (auto value = decoded<Codec>(std::move(*change.node), seed)) {
      event.value = std::move(*value);
    } else {
      event.error = value.error();
    }
    return event;
  }

  std::shared_ptr<EventSource<DataChange>> changes_;
  Value seed_;
};

}  // namespace zklock::detail
