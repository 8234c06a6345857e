#include "blocking_call.hpp"
#include "group_view.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/nodes/group_member.hpp>

#include <utility>

namespace zklock {

std::vector<std::string> GroupMembers::ids() const {
  std::vector<std::string> all;
  for (const auto& [id, member] : members) all.push_back(id);
  return all;
}

namespace detail {

const ClientHandle& home_of(const GroupView& view) { return view.client(); }

/// A wait of nothing looks once.
void start_wait_for_members(std::shared_ptr<GroupView> view, std::size_t number, WaitPolicy wait, Handler<> handler) {
  Deadline deadline;
  if (wait.kind == WaitPolicy::Kind::until) deadline = wait.deadline;
  if (wait.kind == WaitPolicy::Kind::try_once) deadline = Clock::now();
  spawn_operation(view->client().get_executor(), deadline, std::move(handler), GroupView::wait_for(view, number), view);
}

namespace {

void stop_in_background(const std::shared_ptr<GroupView>& view) {
  if (view && !view->client().in_forked_child()) view->stop();
}

/// Throws Error::invalid_path.
std::string member_path(const std::string& group, const std::string& id) {
  if (id.empty() || id.find('/') != std::string::npos)
    throw boost::system::system_error{Error::invalid_path,
                                      zklock::quoted(id) + ": a member's id is one component of a path"};
  validate_path(group);
  std::string path = join_path(group, id);
  validate_path(path);
  return path;
}

PersistentNodeOptions node_options(const GroupMemberOptions& options) {
  PersistentNodeOptions node;
  node.conflict = options.conflict;
  return node;
}

}  // namespace

}  // namespace detail

Group::Group(const ClientHandle& client, std::string path) {
  validate_path(path);
  view_ = detail::GroupView::start(client, std::move(path));
}

Group& Group::operator=(Group&& other) noexcept {
  if (this == &other) return *this;
  detail::stop_in_background(view_);
  view_ = std::move(other.view_);
  return *this;
}

Group::~Group() { detail::stop_in_background(view_); }

const std::string& Group::path() const { return detail::existing(view_).path(); }
GroupMembers Group::members() const { return detail::existing(view_).members(); }
GroupChangeStream Group::changes() const { return detail::existing(view_).subscribe(); }

bool Group::wait_for(std::size_t number, detail::WaitPolicy wait) const {
  return detail::call_blocking(detail::existing(view_), "group", wait,
                               [&](auto token) { initiate_wait(number, wait, std::move(token)); });
}

GroupMember::GroupMember(const ClientHandle& client, std::string path, std::string id, std::string payload,
                         GroupMemberOptions options)
    : KeptNode{detail::start_keeper(client, detail::member_path(path, id), std::move(payload),
                                    detail::node_options(options))},
      id_{std::move(id)},
      group_{client, std::move(path)} {}

std::optional<Member> GroupMember::own() const {
  const NodeState now = state();
  if (now.phase != NodePhase::present) return std::nullopt;
  const GroupMembers all = group_.members();
  const auto found = all.members.find(id_);
  if (found == all.members.end() || found->second.czxid != now.czxid) return std::nullopt;
  return found->second;
}

}  // namespace zklock
