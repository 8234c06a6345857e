#include "changes.hpp"

#include "layout.hpp"
#include "support/await.hpp"
#include "user.hpp"

#include <chrono>
#include <tuple>
#include <utility>

namespace zklock::chaos {

using namespace std::chrono_literals;
using test::Pending;

namespace {

constexpr std::uint64_t branches = 4;
constexpr std::uint64_t leaves = 4;
constexpr std::uint64_t shortest_pause = 600;
constexpr std::uint64_t longest_pause = 2'600;
constexpr std::uint64_t longest_thought = 100;  // between read and write: time for another's write

template <class... Results, class Operation>
std::tuple<error_code, Results...> finish(Operation operation) {
  Pending<Results...> pending;
  operation(pending.handler());
  return pending.get(for_ever);
}

}  // namespace

Changes::Changes(const Client& client, const Log& log, ChangesOptions options)
    : client_{client}, log_{log}, options_{options}, random_{options.seed + 7} {
  for (std::uint64_t i = 0; i < shared_counts; ++i)
    counts_.emplace_back(client_, std::string{counts_root} + "/" + std::to_string(i), 0);
  thread_ = std::thread{[this] { run(); }};
}

Changes::~Changes() {
  {
    const std::lock_guard lock{mutex_};
    over_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

bool Changes::wait(std::chrono::milliseconds length) {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, length, [this] { return over_; });
}

void Changes::run() {
  for (;;) {
    if (wait(std::chrono::milliseconds{shortest_pause + below(longest_pause - shortest_pause)})) return;
    switch (below(8)) {
      case 0: delete_kept_node(); break;
      case 1:
      case 2:
      case 3: change_tree(); break;
      default: add_to_count();
    }
  }
}

/// Once: what another client has written meanwhile stays, and that is an outcome, too.
void Changes::add_to_count() {
  const SharedCount& count = counts_[below(counts_.size())];
  const auto by = static_cast<std::int32_t>(1 + below(9));
  const auto [unread, before] =
      finish<VersionedValue<std::int32_t>>([&](auto handler) { count.async_get(std::move(handler)); });
  if (unread) return;
  if (wait(std::chrono::milliseconds{below(longest_thought)})) return;
  Record record{.event = Event::adds,
                .process = options_.process,
                .operation = ++operations_,
                .lock = count.path(),
                .token = before.value + by,
                .number = before.version,
                .limit = by};
  log_.write(record);
  const auto [error, exchange] = finish<Exchange<std::int32_t>>([&, previous = before](auto handler) {
    count.async_compare_and_set(previous, previous.value + by, std::move(handler));
  });
  record.event = Event::added;
  record.reason = error ? reason_of(error) : exchange.is_set ? "ok" : "no";
  if (!error && exchange.is_set) {
    record.token = exchange.current->mzxid;
    record.number = exchange.current->version;
  }
  log_.write(record);
}

/// Many of these find nothing to change.
void Changes::change_tree() {
  const std::string branch = std::string{tree_root} + "/" + std::to_string(below(branches));
  const std::string leaf = branch + "/" + std::to_string(below(leaves));
  const std::string data = client_.client_id() + ":" + std::to_string(++operations_);
  switch (below(8)) {
    case 0:
      finish<>(
          [&](auto handler) { client_.async_remove(branch, RemoveOptions{}.deleting_children(), std::move(handler)); });
      break;
    case 1: finish<>([&](auto handler) { client_.async_remove(leaf, std::move(handler)); }); break;
    case 2:
    case 3: finish<Stat>([&](auto handler) { client_.async_set_data(leaf, data, std::move(handler)); }); break;
    default:
      finish<CreateResult>([&](auto handler) {
        client_.async_create(leaf, data, CreateOptions{}.creating_parents().or_set_data(), std::move(handler));
      });
  }
}

/// As an operator may do: the process that keeps it makes another one.
void Changes::delete_kept_node() {
  const char* const parent = below(2) == 0 ? kept_root : group_root;
  const auto [error, children] =
      finish<ChildrenResult>([&](auto handler) { client_.async_get_children(parent, std::move(handler)); });
  if (error || children.names.empty()) return;
  std::string path = std::string{parent} + "/" + children.names[below(children.names.size())];
  finish<>([&](auto handler) { client_.async_remove(std::move(path), std::move(handler)); });
}

}  // namespace zklock::chaos
