// From nowhere to a node in a lock's line, and what is known of the line then.
#pragma once

#include "lock_core.hpp"
#include "place_in_line.hpp"

#include <memory>
#include <string>
#include <vector>

namespace zklock {

using Children = std::vector<std::string>;

/// What to stand in line for.
struct LockRequest {
  const detail::LockCore& core;
  LockKind kind;
  const detail::LockAttempt& told;
  bool try_once;  ///< leave again at once if somebody is ahead
};

/// What is known of the line once our node is in it: that one of ours is right ahead, or else all of it.
struct Joined {
  std::shared_ptr<Sibling> ahead{};
  Children line{};
};

/// Creates our node and lists the line in one flight; makes the directory if it is missing, and finds the node again if
/// a reply was lost.
///
/// The list may be some time old where the server is behind others, but is never older than our node, whose answer we
/// have: all who are ahead are in it, and perhaps some who have gone.
[[nodiscard]] Awaitable<Result<Children>> join(Session session, const detail::LockCore& core, PlaceInLine& place);

/// As join; but where one of ours is the last in line, or soon will be, it is likely to be right ahead, and then
/// nothing is listed.
[[nodiscard]] Awaitable<Result<Joined>> join_behind_own(Session session, LockRequest request, PlaceInLine& place);

}  // namespace zklock
