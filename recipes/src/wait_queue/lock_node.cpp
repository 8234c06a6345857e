#include "queue_kind.hpp"
#include "sequence_number.hpp"

#include <zklock/recipes/locks/lock_node.hpp>

#include <array>

namespace zklock {

std::string_view to_string(LockKind kind) noexcept {
  switch (kind) {
    case LockKind::mutex: return "mutex";
    case LockKind::read: return "read";
    case LockKind::write: return "write";
    case LockKind::permit: return "permit";
    case LockKind::latch: return "latch";
  }
  return "unknown";
}

std::string_view marker_of(LockKind kind, LockNaming naming) noexcept {
  const bool is_lock = kind != LockKind::permit && kind != LockKind::latch;
  if (naming == LockNaming::kazoo && is_lock) return kind == LockKind::read ? "__rlock__" : "__lock__";
  switch (kind) {
    case LockKind::mutex: return "lock-";
    case LockKind::read: return "__READ__";
    case LockKind::write: return "__WRIT__";
    case LockKind::permit: return "lease-";
    case LockKind::latch: return "latch-";
  }
  return {};
}

namespace {

constexpr std::array kinds{LockKind::mutex, LockKind::read, LockKind::write, LockKind::permit};

}  // namespace

std::optional<LockNode> parse_lock_node(std::string_view name) noexcept {
  for (const LockKind kind : kinds)
    if (const auto sequence = parse_sequence(name, marker_of(kind))) return LockNode{kind, *sequence};
  return std::nullopt;
}

std::optional<LockKind> find_lock_marker(std::string_view name) noexcept {
  std::optional<LockKind> last;
  std::size_t last_at = 0;
  for (const LockKind kind : kinds) {
    const auto at = name.rfind(marker_of(kind));
    if (at == std::string_view::npos || (last && at < last_at)) continue;
    last = kind;
    last_at = at;
  }
  return last;
}

bool blocks(LockNode ahead, LockNode behind) noexcept {
  return ahead.sequence < behind.sequence && exclude_each_other(ahead.kind, behind.kind);
}

}  // namespace zklock
