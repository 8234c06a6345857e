// The slots of a client.
#pragma once

#include <zklock/client.hpp>
#include <zklock/recipe_kit/async_event.hpp>
#include <zklock/recipe_kit/spawn.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace zklock::detail {

/// A node of the client's own, which tells what has become of the transaction that wrote it last.
struct Slot {
  std::string path{};  ///< empty: none was made yet
  std::int32_t version = 0;

  [[nodiscard]] explicit operator bool() const noexcept { return !path.empty(); }
};

/// Those of one client and namespace: each transaction under way has one to itself. It lives as long as the client.
///
/// Threads: the serial executor.
class Ledger : public std::enable_shared_from_this<Ledger> {
 public:
  static std::shared_ptr<Ledger> of(const ClientHandle& client);
  explicit Ledger(std::string directory) : directory_{std::move(directory)} {}

  [[nodiscard]] std::string keys() const { return directory_ + "/keys"; }
  /// Waits for a free place. The slot in it may not have been made yet.
  [[nodiscard]] static Awaitable<Slot> take(std::shared_ptr<Ledger> self, asio::any_io_executor serial);
  /// Makes the node of a slot, under a new name each time: a create whose reply is lost is abandoned. The first one of a
  /// client sweeps.
  [[nodiscard]] static Awaitable<error_code> make(std::shared_ptr<Ledger> self, Session session, Slot& slot);
  /// Gives the place back, with its slot, unless an outcome there is ambiguous.
  void give_back(Slot slot, const Session& session);

 private:
  static constexpr std::size_t max_slots = 256;
  [[nodiscard]] static Awaitable<void> sweep(Session session, std::string directory, Slot newest);
  void remove_free_slots();

  std::string directory_;
  std::vector<Slot> free_;
  std::size_t taken_ = 0;
  std::deque<std::shared_ptr<AsyncEvent>> waiting_;
  Session session_{};  // the last one that was used
  bool swept_ = false;
};

}  // namespace zklock::detail
