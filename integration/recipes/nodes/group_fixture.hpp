// What the tests of groups begin with.
#pragma once

#include "node_fixture.hpp"

#include <zklock/recipes/nodes/group_member.hpp>

#include <string>

namespace zklock::test {

/// "id=payload id=payload", by id; with a '?' if it is not live.
inline std::string shown(const Group& group) {
  const GroupMembers now = group.members();
  std::string all = now.is_live() ? "" : "? ";
  for (const auto& [id, member] : now.members) all += id + "=" + member.payload + " ";
  return all;
}

inline std::string text_of(const GroupChange& change) {
  const char* kinds[] = {"joined ", "left ", "changed "};
  return kinds[static_cast<int>(change.kind)] + change.id + "=" + change.member.payload;
}

struct GroupFixture : NodeFixture {
  Group group{client, path};

  [[nodiscard]] bool eventually_shown(const std::string& members) const {
    return eventually([&] { return shown(group) == members; });
  }
};

}  // namespace zklock::test
