// A value that processes share in one node.
#pragma once

#include <zklock/recipe_kit/recipe_core.hpp>
#include <zklock/recipes/caches/follow_stream.hpp>
#include <zklock/recipes/shared/value_source.hpp>
#include <zklock/recipes/shared/versioned_value.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace zklock {

/// A node with one value. Each form of value has a Codec:
///
///   using Value = ...;
///   static std::string encode(const Value& value);
///   static std::optional<Value> decode(std::string data, const Value& seed);   // empty: Error::invalid_data
///
/// SharedValue and SharedCount work together with Curator's of these names on one path, and SharedCount with Kazoo's
/// Counter(support_curator=True). The node is persistent, with containers above it. Nothing but writes and async_get
/// creates it.
///
/// Threads: any thread may call anything but the destructor.
template <class Codec>
class BasicSharedValue {
 public:
  using Value = typename Codec::Value;
  using Versioned = VersionedValue<Value>;

  /// `seed` is the value of a node that async_get has to create. Throws boost::system::system_error:
  /// Error::invalid_path.
  BasicSharedValue(const ClientHandle& client, std::string path, Value seed)
      : core_{detail::make_shared_value(client, std::move(path), Codec::encode(seed))}, seed_{std::move(seed)} {}
  /// A temporary Client would be closed at once.
  template <class... Rest>
  BasicSharedValue(Client&&, Rest&&...) = delete;

  [[nodiscard]] const std::string& path() const { return detail::existing(core_).path(); }

  /// Reads the value. Where there is no node, it creates one with the seed, unless another client is faster.
  ///
  /// Signature     void(error_code, VersionedValue<Value>)
  /// Completes     with the value, and the version of the node that has it.
  /// Errors        as ClientOperations::async_get_data and async_create; Error::invalid_data if the node has no value of
  ///               this form
  /// Cancellation  terminal, partial, total: the node may be created all the same.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Versioned)> Token = asio::deferred_t>
  auto async_get(Token&& token = {}) const {
    return detail::initiate<void(error_code, Versioned), &detail::start_get_value<Codec>>(std::forward<Token>(token),
                                                                                          core_, seed_);
  }

  /// Sets the value, whatever it was before, and creates the node where there is none. A set that is repeated after a
  /// lost reply may hit what another client has written meanwhile.
  ///
  /// Signature     void(error_code, VersionedValue<Value>)
  /// Completes     with the new value and its version.
  /// Errors        as ClientOperations::async_set_data and async_create
  /// Cancellation  terminal, partial, total: the value may be set all the same.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Versioned)> Token = asio::deferred_t>
  auto async_set(Value value, Token&& token = {}) const {
    return detail::initiate<void(error_code, Versioned), &detail::start_set_value<Codec>>(std::forward<Token>(token),
                                                                                          core_, std::move(value));
  }

  /// Sets the value if it still has the version of `previous`: Curator's trySetValue. "No" means that it was certainly
  /// not set. When a reply is lost and the node does not tell, the error is the ambiguous one.
  ///
  /// Signature     void(error_code, Exchange<Value>)
  /// Completes     also when another value is there: with that one.
  /// Errors        as ClientOperations::async_set_data, but for bad_version and no_node; Error::bad_arguments for a
  ///               negative version, which the servers take for any; Error::invalid_data if the value that is there has
  ///               another form
  /// Cancellation  terminal, partial, total: the value may be set all the same.
  /// Threads       any thread may call it; the handler runs on its associated executor.
  template <asio::completion_token_for<void(error_code, Exchange<Value>)> Token = asio::deferred_t>
  auto async_compare_and_set(const Versioned& previous, Value next, Token&& token = {}) const {
    const detail::Expected expected{previous.version, previous.czxid};
    return detail::initiate<void(error_code, Exchange<Value>), &detail::start_exchange<Codec>>(
        std::forward<Token>(token), core_, expected, std::move(next), seed_);
  }

  /// Follows the value, over lost links and sessions and over the node's deletion, until the client ends. The first
  /// event is the value of now. What a slow reader has not read is merged: the last value counts, and `skipped` says
  /// how many versions are not shown. freshness() of the stream says whether the value may be old.
  [[nodiscard]] FollowStream<ValueChange<Value>> values() const {
    const auto& core = detail::existing(core_);
    detail::FollowedData followed = detail::follow_data(core.client(), core.path());
    auto source = std::make_shared<detail::ValueSource<Codec>>(core.client(), std::move(followed.events), seed_);
    return {std::move(source), std::move(followed.followed)};
  }

  // The same, blocking: they throw boost::system::system_error with the errors above, and Error::blocking_in_handler on
  // a thread that the client's work needs.

  [[nodiscard]] Versioned get() const { return existing_value(detail::get_shared_value(core_)); }
  Versioned set(const Value& value) const {
    return detail::versioned(value, detail::set_shared_value(core_, Codec::encode(value)));
  }
  [[nodiscard]] Exchange<Value> compare_and_set(const Versioned& previous, const Value& next) const {
    const detail::Expected expected{previous.version, previous.czxid};
    auto exchange =
        detail::to_exchange<Codec>(detail::compare_and_set_shared_value(core_, expected, Codec::encode(next)), seed_);
    if (!exchange) throw boost::system::system_error{exchange.error(), path()};
    return std::move(*exchange);
  }

 private:
  [[nodiscard]] Versioned existing_value(DataResult read) const {
    auto value = detail::decoded<Codec>(std::move(read), seed_);
    if (!value) throw boost::system::system_error{value.error(), path()};
    return std::move(*value);
  }

  detail::SharedValuePtr core_;
  Value seed_;
};

namespace detail {

struct BytesCodec {
  using Value = std::string;
  static std::string encode(const Value& value) { return value; }
  static std::optional<Value> decode(std::string data, const Value&) { return data; }
};

}  // namespace detail

/// A value of any bytes: Curator's SharedValue.
using SharedValue = BasicSharedValue<detail::BytesCodec>;

}  // namespace zklock
