// Numbers that processes count up together, each increment exactly once.
#pragma once

#include <zklock/recipe_kit/recipe_core.hpp>
#include <zklock/recipe_kit/spawn.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace zklock {

/// What has come of a change.
template <class T>
struct AtomicResult {
  bool is_done = false;  ///< false: a compare-and-set met another value, or an initialize a node
  T before{};            ///< the value that the change met; an absent node counts as T{}
  T after{};             ///< the value afterwards; `before` if it was not done
  /// The counter was deleted and made anew between being read and being written, and met with the same version: the
  /// change was made to the new one, and `before` may be wrong.
  bool is_another_node = false;
};

namespace detail {

/// A change of a node's data, as a function of what is there; an absent node has none.
struct AtomicOutcome {
  error_code error{};
  std::optional<std::string> after{};  ///< empty: no change
};
using AtomicStep = std::function<AtomicOutcome(const std::optional<std::string>& before)>;

struct RawAtomic {
  bool is_done = false;
  bool is_another_node = false;
  std::optional<std::string> before{};
  std::optional<std::string> after{};
};

class AtomicCore;
using AtomicPtr = std::shared_ptr<AtomicCore>;
const ClientHandle& client_of(const AtomicCore& core) noexcept;
inline const ClientHandle& home_of(const AtomicCore& core) { return client_of(core); }

/// Throws Error::invalid_path.
[[nodiscard]] AtomicPtr make_atomic(const ClientHandle& client, std::string path);
[[nodiscard]] const std::string& path_of(const AtomicCore& core) noexcept;
void start_atomic(AtomicPtr core, AtomicStep step, Handler<RawAtomic> handler);
[[nodiscard]] RawAtomic change_atomic(const AtomicPtr& core, AtomicStep step);  // blocking

/// Big-endian, as Curator has them: an empty node is 0; any other number of bytes is not a number.
template <std::signed_integral T>
struct NumberCodec {
  using Value = T;
  static std::string encode(T value) {
    std::string data(sizeof(T), '\0');
    auto bits = static_cast<std::make_unsigned_t<T>>(value);
    for (auto byte = data.rbegin(); byte != data.rend(); ++byte, bits >>= 8) *byte = static_cast<char>(bits & 0xff);
    return data;
  }
  static std::optional<T> decode(const std::optional<std::string>& data) {
    if (!data || data->empty()) return T{};
    if (data->size() != sizeof(T)) return std::nullopt;
    std::make_unsigned_t<T> bits = 0;
    for (const char byte : *data) bits = bits << 8 | static_cast<unsigned char>(byte);
    return static_cast<T>(bits);
  }
};

struct AtomicBytesCodec {
  using Value = std::string;
  static std::string encode(std::string value) { return value; }
  static std::optional<std::string> decode(const std::optional<std::string>& data) { return data.value_or(""); }
};

/// What each operation does with the data.
template <class Codec>
struct AtomicSteps {
  using Value = typename Codec::Value;

  static AtomicStep get() {
    return [](const std::optional<std::string>& before) { return unchanged(before); };
  }
  static AtomicStep add(Value delta) {
    return [delta](const std::optional<std::string>& before) {
      const auto old = Codec::decode(before);
      if (!old) return AtomicOutcome{make_error_code(Error::invalid_data), {}};
      Value sum{};
      if (__builtin_add_overflow(*old, delta, &sum)) return AtomicOutcome{make_error_code(Error::overflow), {}};
      return AtomicOutcome{{}, Codec::encode(sum)};
    };
  }
  static AtomicStep compare_and_set(Value expected, Value next) {
    return [expected = std::move(expected), next = std::move(next)](const std::optional<std::string>& before) {
      const auto old = Codec::decode(before);
      if (!old || !before || *old != expected) return unchanged(before);
      return AtomicOutcome{{}, Codec::encode(next)};
    };
  }
  static AtomicStep set(Value next) {
    return [next = std::move(next)](const std::optional<std::string>&) {
      return AtomicOutcome{{}, Codec::encode(next)};
    };
  }
  static AtomicStep initialize(Value first) {
    return [first = std::move(first)](const std::optional<std::string>& before) {
      return before ? AtomicOutcome{} : AtomicOutcome{{}, Codec::encode(first)};
    };
  }
  static Result<AtomicResult<Value>> result(RawAtomic raw) {
    auto before = Codec::decode(raw.before);
    auto after = Codec::decode(raw.after);
    if (!after) return make_error_code(Error::invalid_data);
    AtomicResult<Value> result{raw.is_done, {}, std::move(*after), raw.is_another_node};
    if (before) result.before = std::move(*before);  // a set replaces data that have no meaning
    return result;
  }

 private:
  static AtomicOutcome unchanged(const std::optional<std::string>& before) {
    return AtomicOutcome{Codec::decode(before) ? error_code{} : make_error_code(Error::invalid_data), {}};
  }
};

template <class Codec>
void start_typed_atomic(AtomicPtr core, AtomicStep step, Handler<AtomicResult<typename Codec::Value>> handler) {
  auto slot = asio::get_associated_cancellation_slot(handler);
  start_atomic(
      std::move(core), std::move(step),
      asio::bind_cancellation_slot(slot, [handler = std::move(handler)](error_code error, RawAtomic raw) mutable {
        if (error) return std::move(handler)(error, {});
        auto result = AtomicSteps<Codec>::result(std::move(raw));
        if (!result) return std::move(handler)(result.error(), {});
        std::move(handler)(error_code{}, std::move(*result));
      }));
}

}  // namespace detail

class CachedAtomicLong;

/// A value in a node that processes change together; works together with Curator's DistributedAtomicLong,
/// DistributedAtomicInteger and DistributedAtomicValue on one path. Each change is made exactly once, or not at all if it
/// fails with a definite error, although replies and sessions are lost: docs/counters.md. Changes that one object gets
/// while another one is under way are combined into one write.
///
/// Of each operation:
///
/// Signature     void(error_code, AtomicResult<Value>)
/// Completes     when it is made; when it certainly is not, is_done is false, or there is a definite error.
/// Errors        Error::overflow: the sum is out of range; Error::invalid_data: the node has no value of this form;
///               otherwise as async_commit_once
/// Cancellation  terminal, partial, total: completes at once; the change may be made all the same.
/// Threads       any thread may call it; the handler runs on its associated executor.
///
/// Threads: any thread may call anything but the destructor. Copies are one object.
template <class Codec>
class BasicAtomic {
 public:
  using Value = typename Codec::Value;
  using AtomicResultOf = AtomicResult<Value>;

  /// Throws boost::system::system_error: Error::invalid_path.
  BasicAtomic(const ClientHandle& client, std::string path) : core_{detail::make_atomic(client, std::move(path))} {}
  /// A temporary Client would be closed at once.
  template <class... Rest>
  BasicAtomic(Client&&, Rest&&...) = delete;

  [[nodiscard]] const std::string& path() const { return detail::path_of(detail::existing(core_)); }

  /// Reads the value: `after`.
  template <asio::completion_token_for<void(error_code, AtomicResultOf)> Token = asio::deferred_t>
  auto async_get(Token&& token = {}) const {
    return initiate(Steps::get(), std::forward<Token>(token));
  }
  template <asio::completion_token_for<void(error_code, AtomicResultOf)> Token = asio::deferred_t>
  auto async_add(Value delta, Token&& token = {}) const requires std::integral<Value> {
    return initiate(Steps::add(delta), std::forward<Token>(token));
  }
  template <asio::completion_token_for<void(error_code, AtomicResultOf)> Token = asio::deferred_t>
  auto async_increment(Token&& token = {}) const requires std::integral<Value> {
    return initiate(Steps::add(1), std::forward<Token>(token));
  }
  template <asio::completion_token_for<void(error_code, AtomicResultOf)> Token = asio::deferred_t>
  auto async_decrement(Token&& token = {}) const requires std::integral<Value> {
    return initiate(Steps::add(-1), std::forward<Token>(token));
  }
  /// Sets the value if it is `expected`, and there is a node.
  template <asio::completion_token_for<void(error_code, AtomicResultOf)> Token = asio::deferred_t>
  auto async_compare_and_set(Value expected, Value next, Token&& token = {}) const {
    return initiate(Steps::compare_and_set(std::move(expected), std::move(next)), std::forward<Token>(token));
  }
  /// Sets the value, whatever it is: Curator's forceSet.
  template <asio::completion_token_for<void(error_code, AtomicResultOf)> Token = asio::deferred_t>
  auto async_set(Value next, Token&& token = {}) const {
    return initiate(Steps::set(std::move(next)), std::forward<Token>(token));
  }
  /// Creates the node, if there is none, with this value.
  template <asio::completion_token_for<void(error_code, AtomicResultOf)> Token = asio::deferred_t>
  auto async_initialize(Value first, Token&& token = {}) const {
    return initiate(Steps::initialize(std::move(first)), std::forward<Token>(token));
  }

  // The same, blocking: they throw boost::system::system_error with the errors above, and Error::blocking_in_handler on
  // a thread that the client's work needs; Error::executor_not_running.

  [[nodiscard]] Value get() const { return change(Steps::get()).after; }
  AtomicResultOf add(Value delta) const requires std::integral<Value> { return change(Steps::add(delta)); }
  AtomicResultOf increment() const requires std::integral<Value> { return change(Steps::add(1)); }
  AtomicResultOf decrement() const requires std::integral<Value> { return change(Steps::add(-1)); }
  AtomicResultOf compare_and_set(Value expected, Value next) const {
    return change(Steps::compare_and_set(std::move(expected), std::move(next)));
  }
  AtomicResultOf set(Value next) const { return change(Steps::set(std::move(next))); }
  AtomicResultOf initialize(Value first) const { return change(Steps::initialize(std::move(first))); }

 private:
  friend class CachedAtomicLong;
  using Steps = detail::AtomicSteps<Codec>;

  template <class Token>
  auto initiate(detail::AtomicStep step, Token&& token) const {
    return detail::initiate<void(error_code, AtomicResultOf), &detail::start_typed_atomic<Codec>>(
        std::forward<Token>(token), core_, std::move(step));
  }
  AtomicResultOf change(detail::AtomicStep step) const {
    auto result = Steps::result(detail::change_atomic(core_, std::move(step)));
    if (!result) throw boost::system::system_error{result.error(), path()};
    return std::move(*result);
  }

  detail::AtomicPtr core_;
};

using DistributedAtomicLong = BasicAtomic<detail::NumberCodec<std::int64_t>>;
using DistributedAtomicInteger = BasicAtomic<detail::NumberCodec<std::int32_t>>;
using DistributedAtomicValue = BasicAtomic<detail::AtomicBytesCodec>;

}  // namespace zklock
