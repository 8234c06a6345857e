// What the workers of zklock's asynchronous subjects do. Each returns when the window is closing.
#pragma once

#include "window.hpp"

#include <zklock/recipes/locks/inter_process_mutex.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <deque>

namespace zklock::bench {

namespace asio = boost::asio;

enum class Release { awaited, left_to_the_lease };

/// Acquires and releases, in time with `interval` if that is not zero.
asio::awaitable<void> loop(const InterProcessMutex& mutex, Release release, std::chrono::milliseconds interval,
                           Window& window, Tally& tally);
asio::awaitable<void> enter_again(const InterProcessMutex& mutex, Window& window, Tally& tally);
/// Acquires and releases by one client after the other: `turn` times by the first, once by each other one, whose cycles
/// are in `others`, too.
asio::awaitable<void> take_turns(const std::deque<InterProcessMutex>& of_clients, Release release, std::size_t turn,
                                 Window& window, Tally& all, Tally& others);
/// Tries for a lock that another client holds.
asio::awaitable<void> keep_trying(const InterProcessMutex& mutex, Window& window, Tally& tally);

}  // namespace zklock::bench
