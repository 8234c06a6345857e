#include "blocking_call.hpp"
#include "double_barrier_member.hpp"
#include "unattended.hpp"

#include <zklock/detail/existing.hpp>
#include <zklock/path.hpp>
#include <zklock/recipe_kit/complete_later.hpp>
#include <zklock/recipe_kit/protected_path.hpp>

namespace zklock {
namespace detail {

DoubleBarrierCore::DoubleBarrierCore(const ClientHandle& client, std::string path, int quantity)
    : RecipeCore{client, std::move(path)},
      quantity_{static_cast<std::size_t>(quantity)},
      ready_{join_path(this->path(), ready_name)} {
  validate_path(this->path());
  if (quantity < 1 || quantity > DistributedDoubleBarrier::max_members)
    throw boost::system::system_error{Error::bad_arguments, "a double barrier of " + std::to_string(quantity)};
}

MemberNode::MemberNode(std::shared_ptr<const DoubleBarrierCore> of, Session on)
    : barrier{std::move(of)}, session{std::move(on)}, path{join_path(barrier->path(), ProtectedPath{"/", ""}.uuid())} {}

const ClientHandle& home_of(const DoubleBarrierCore& barrier) { return barrier.client(); }
const Session& home_of(const BarrierMember& member) { return member.node().session; }

void start_enter(std::shared_ptr<DoubleBarrierCore> barrier, WaitPolicy wait, Handler<BarrierMembership> handler) {
  const Limits limits = limits_of(wait, barrier->client());
  spawn_operation(barrier->client().get_executor(), limits.deadline, std::move(handler), enter(barrier, limits),
                  barrier, Error::connection_loss);
}

void start_leave(std::shared_ptr<BarrierMember> member, Deadline deadline, Handler<> handler) {
  const auto serial = member->node().session.get_executor();
  if (!member->begin_to_leave())
    return complete_later(serial, member, std::move(handler), make_error_code(Error::invalid_state));
  auto waiting = Unattended::of(std::move(handler), serial);
  asio::dispatch(serial, [serial, deadline, member = std::move(member), waiting = std::move(waiting)] {
    waiting->give_up_at(deadline, serial);
    member->hold()->give_up();
    spawn_background(serial, leave(member), [waiting](error_code error) { waiting->complete(error); });
  });
}

void start_wait_membership_lost(std::shared_ptr<BarrierMember> member, Handler<> handler) {
  const auto serial = member->node().session.get_executor();
  spawn_operation(serial, {}, std::move(handler), SessionHold::wait_lost(member->hold()), member);
}

void leave_in_background(const std::shared_ptr<BarrierMember>& member) noexcept {
  if (!member || member->node().session.in_forked_child() || member->has_left()) return;
  start_leave(member, {}, Handler<>{[](error_code) {}, Route{}});
}

}  // namespace detail

using detail::existing;

Clock::time_point BarrierMembership::valid_until() const noexcept {
  return member_ && !member_->has_left() ? member_->hold()->valid_until() : Clock::time_point{};
}

std::string BarrierMembership::node_path() const {
  return member_ ? member_->node().session.full_path(member_->node().path) : std::string{};
}

bool BarrierMembership::leave_within(Deadline deadline) {
  const auto& core = *existing(member_).node().barrier;
  const auto wait = deadline ? detail::WaitPolicy{detail::WaitPolicy::Kind::until, *deadline} : detail::WaitPolicy{};
  return detail::call_blocking(core, "double barrier", wait, [&](auto token) {
    detail::initiate<void(error_code), &detail::start_leave>(std::move(token), member_, deadline);
  });
}

DistributedDoubleBarrier::DistributedDoubleBarrier(const ClientHandle& client, std::string path, int member_quantity)
    : core_{std::make_shared<detail::DoubleBarrierCore>(client, std::move(path), member_quantity)} {}

const std::string& DistributedDoubleBarrier::path() const { return existing(core_).path(); }

/// The operation itself ends when its time is up, and the server has answered.
std::optional<BarrierMembership> DistributedDoubleBarrier::enter(detail::WaitPolicy wait) const {
  const auto& core = existing(core_);
  refuse_after_fork(core);
  try {
    return detail::call_blocking<BarrierMembership>(core.client(), "double barrier " + core.path(),
                                                    [&](auto token) { initiate_enter(wait, std::move(token)); });
  } catch (const boost::system::system_error& error) {
    if (error.code() != Error::timed_out || wait.kind == detail::WaitPolicy::Kind::forever) throw;
    return std::nullopt;
  }
}

}  // namespace zklock
