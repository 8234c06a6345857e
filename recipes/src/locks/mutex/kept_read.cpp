#include "kept_read.hpp"

#include "kept_acquire.hpp"
#include "kept_reader_node.hpp"
#include "queue_position.hpp"

#include <utility>

namespace zklock {

using detail::HeldLock;
using detail::KeepSettings;
using detail::KeptLockNodes;
using detail::KeptReaderNode;
using detail::KeptReaders;
using detail::LeaseShare;
using detail::LockCore;
using detail::NodePlace;

namespace {

/// Null: it cannot be granted any more, and is given back.
Awaitable<std::shared_ptr<HeldLock>> grant(KeptReaders::Entry entry, Owner owner, KeepSettings how,
                                           std::uint64_t attempt) {
  const bool is_proven = co_await KeptReaderNode::prove(entry.node());
  if (!is_proven) co_return nullptr;
  co_return HeldLock::make_beside(entry.use(), owner, how, attempt);
}

/// By the list, or by the node's number.
bool has_seen_no_writer(const Enqueued& enqueued, LockNaming naming) {
  if (!enqueued.children.empty()) return has_no_writer(enqueued.children, naming);
  return enqueued.position.verdict == QueuePosition::Verdict::first;
}

}  // namespace

Awaitable<Result<Lease>> read_to_keep(const LockRequest& request, KeepSettings how) {
  KeptReaders& readers = request.core->readers();
  if (auto entry = readers.enter(); entry.node()) {
    const auto node = entry.node();
    const auto held_lock = co_await grant(std::move(entry), request.owner, how, request.told.number());
    if (held_lock) {
      Lease lease = kept_lease(*request.core, request.told, held_lock);
      lose_if_gone(*node, held_lock);
      co_return std::move(lease);
    }
  }
  ToKeepReading to_keep{how};
  LockRequest request_in_queue = request;
  request_in_queue.keeps_reading = &to_keep;
  co_return co_await wait_in_queue(request_in_queue);
}

std::shared_ptr<LeaseShare> read_at_once(const std::shared_ptr<LockCore>& core, Owner owner, KeepSettings how) {
  KeptReaders& readers = core->readers();
  if (!how.is_on() || how.keeping != Keeping::silent || is_read(*core)) return nullptr;
  auto entry = readers.enter();
  if (!entry.node() || !entry.node()->is_fresh()) return nullptr;
  const auto node = entry.node();
  auto held_lock = HeldLock::make_beside(entry.use(), owner, how, 0);
  auto share = std::make_shared<LeaseShare>(held_lock);
  if (!core->add_reader(held_lock)) {
    release_in_background(share);
    return nullptr;
  }
  lose_if_gone(*node, held_lock);
  return share;
}

Awaitable<error_code> enqueue_to_keep_reading(const Session& session, const LockRequest& request, QueueNode& queue_node,
                                              Enqueued& found) {
  const LockCore& core = *request.core;
  KeptReaders& readers = request.core->readers();
  auto& watched = request.keeps_reading->watched = {};
  const bool may_keep = readers.is_quiet() && !readers.node();
  auto enqueuing = may_keep ? enqueue_with_watch(session, core, queue_node, watched, found)
                            : queue_node.enqueue(core.naming(), found);
  const error_code error = co_await std::move(enqueuing);
  if (error) co_return error;
  const bool is_quiet = has_seen_no_writer(found, core.naming());
  readers.on_enqueued(is_quiet);
  if (!is_quiet || queue_node.late_node()) watched = {};
  co_return error;
}

std::shared_ptr<HeldLock> hold_to_keep_reading(const LockRequest& request, const Session& session,
                                               QueueNode& queue_node) {
  auto& [how, watched] = *request.keeps_reading;
  const auto& core = request.core;
  if (!watched.watch.is_set() || watched.connection != session.connection()) return nullptr;
  if (core->readers().node() || KeptLockNodes::of(core->client())->number >= KeptLockNodes::max_number) return nullptr;
  auto node =
      KeptReaderNode::make(core, core->readers(), how.keep, NodePlace{session, queue_node.node()}, std::move(watched));
  core->readers().become(node);
  node->own(std::move(request.share), queue_node.local_waiter());
  queue_node.detach();
  return HeldLock::make_beside(std::move(node), request.owner, how, request.told.number());
}

}  // namespace zklock
