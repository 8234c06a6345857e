// Divides items among the members of a group, the same way in each of them, without a word between them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {

/// Returns for each member the items that are its own: each item goes to one member. Members that know the same members
/// compute the same shares, whatever the order. When a member comes, items move to it and to no other one; when it
/// goes, only its own items move. (Rendezvous hashing: an item belongs to the member whose name, hashed together with
/// the item's, gives the greatest number.) Without members there are no shares.
///
/// The shares differ in size as random ones do: of 100 items each of 4 members gets 25, give or take some.
///
/// Two members that do not know the same members for a moment may both take an item. Where that would do harm, a member
/// takes an InterProcessMutex of the item's name before it begins.
[[nodiscard]] std::map<std::string, std::vector<std::string>> share(const std::vector<std::string>& items,
                                                                    const std::vector<std::string>& members);

/// The member that has the item; empty if there is none.
[[nodiscard]] std::string share_owner(std::string_view item, const std::vector<std::string>& members);

}  // namespace zklock
