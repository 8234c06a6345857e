// Definitions that the shop's parts share.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace shop {

using namespace std::chrono_literals;

/// CLOCK_MONOTONIC: the same for all processes of a machine.
using Clock = std::chrono::steady_clock;
using Token = std::int64_t;

inline constexpr int processes = 8;
/// The pause between reading the stock and writing it. Eight processes that sleep this long between the two, a thousand
/// times over, overlap on any machine.
inline constexpr auto think_time = 1ms;
/// A server ends a session up to a tick after its timeout. The timeout is small, so that the demo is short: 30 s is
/// usual.
inline constexpr std::chrono::milliseconds session_timeout = 2s;
inline constexpr std::chrono::milliseconds tick = 500ms;

/// The arguments of a worker process.
struct WorkerOptions {
  int number = 0;  ///< 1 to `processes`
  int parent = 0;  ///< a process id
  std::string stock_file{};
  std::string ledger{};
  std::string connect{};  ///< empty: sell without a lock
  std::string lock{};
  int stop_at = 0;  ///< the sale in which to stop, as a victim for the parent; 0: none
};

}  // namespace shop
