#include "ledger.hpp"

#include "slot_record.hpp"

#include <zklock/path.hpp>
#include <zklock/recipe_kit/flight.hpp>
#include <zklock/recipe_kit/protected_path.hpp>
#include <zklock/recipe_kit/retry_loop.hpp>
#include <zklock/recipe_kit/session_ops.hpp>
#include <zklock/recipe_kit/shared_state.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace zklock::detail {

namespace {

/// All ledgers of a client, by their path at the servers.
struct Ledgers {
  std::map<std::string, std::shared_ptr<Ledger>> by_path;
};

auto ignored(const Session& session) {
  return asio::bind_executor(session.get_executor(), [](error_code, auto&&...) {});
}

}  // namespace

std::shared_ptr<Ledger> Ledger::of(const ClientHandle& client) {
  const std::string& directory = client.config().ledger_path;
  std::shared_ptr<Ledger>& found = client.shared_state().keep<Ledgers>()->by_path[client.server_path(directory)];
  if (found) return found;
  found = std::make_shared<Ledger>(directory);
  client.shared_state().at_close([weak = std::weak_ptr{found}] {
    if (const auto self = weak.lock()) self->remove_free_slots();
  });
  return found;
}

Awaitable<Slot> Ledger::take(std::shared_ptr<Ledger> self, asio::any_io_executor serial) {
  while (self->taken_ >= max_slots) {
    const auto turn = std::make_shared<AsyncEvent>(serial);
    self->waiting_.push_back(turn);
    co_await turn->wait();
  }
  ++self->taken_;
  Slot slot;
  if (!self->free_.empty()) {
    slot = std::move(self->free_.back());
    self->free_.pop_back();
  }
  co_return slot;
}

void Ledger::give_back(Slot slot, const Session& session) {
  --taken_;
  if (session) session_ = session;  // there was none to be found
  constexpr std::int32_t last = std::numeric_limits<std::int32_t>::max() - 1;
  if (slot && slot.version < last) free_.push_back(std::move(slot));
  if (waiting_.empty()) return;
  waiting_.front()->happen();
  waiting_.pop_front();
}

Awaitable<error_code> Ledger::make(std::shared_ptr<Ledger> self, Session session, Slot& slot) {
  for (int rounds_left = max_rounds;; --rounds_left) {
    const std::string path = ProtectedPath{self->directory_, "slot"}.path();
    auto [error, made] = co_await session.async_create(path, std::string{}, CreateMode::persistent, use_tuple);
    if (!error) {
      slot = Slot{path, made.stat.version};
      if (!std::exchange(self->swept_, true))
        spawn_detached(session.get_executor(), sweep(session, self->directory_, slot));
      co_return error_code{};
    }
    if (error != Error::no_node || rounds_left == 0) co_return error;
    if (const error_code unmade = co_await create_containers(session, self->directory_)) co_return unmade;
  }
}

namespace {

/// Deletes the children with such names that nobody has written to since then, by the servers' clock.
Awaitable<void> sweep_children(Session session, std::string directory, std::string_view prefix,
                               std::chrono::system_clock::time_point before) {
  auto [unlisted, listed] = co_await session.async_get_children(directory, use_tuple);
  if (unlisted) co_return;
  std::erase_if(listed.names, [&](const std::string& name) { return !name.starts_with(prefix); });
  for (std::size_t begin = 0; begin < listed.names.size(); begin += max_flight) {
    const std::size_t size = std::min(max_flight, listed.names.size() - begin);
    const Flight<std::optional<Stat>> flight{session.get_executor(), size};
    for (std::size_t i = 0; i < size; ++i)
      session.async_exists(join_path(directory, listed.names[begin + i]), flight.handler(i));
    if (co_await flight.wait()) co_return;
    for (std::size_t i = 0; i < size; ++i) {
      const auto& [error, stat] = flight.outcomes()[i];
      const bool is_old = !error && stat && stat->num_children == 0 && stat->modified < before;
      if (is_old) session.async_remove(join_path(directory, listed.names[begin + i]), stat->version, ignored(session));
    }
  }
}

}  // namespace

Awaitable<void> Ledger::sweep(Session session, std::string directory, Slot newest) {
  const auto [error, stat] = co_await session.async_exists(newest.path, use_tuple);
  if (error || !stat) co_return;
  co_await sweep_children(session, directory, "_c_", stat->created - slot_lifetime);
  co_await sweep_children(session, directory + "/keys", "", stat->created - key_lifetime);
}

void Ledger::remove_free_slots() {
  for (const Slot& slot : std::exchange(free_, {})) session_.async_remove(slot.path, slot.version, ignored(session_));
}

}  // namespace zklock::detail
