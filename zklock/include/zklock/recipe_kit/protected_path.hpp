// Names that only their maker knows.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace zklock {

/// The path of a node that is to be made, with a name that begins with "_c_<uuid>-", Curator's form. By that tag, which
/// is there whatever else the name has, the node is found again after a lost reply; no other node has it.
class ProtectedPath {
 public:
  /// A tag and `name`, which may be empty, in `directory`.
  ProtectedPath(std::string_view directory, std::string_view name);
  /// Of the path that a create was asked for: "/jobs/n-" is "n-" in "/jobs", "/jobs/" is nothing in "/jobs".
  explicit ProtectedPath(std::string_view path);

  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  /// What to ask the server for.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Whether the child of the directory is the node, with digits behind its name or without.
  [[nodiscard]] bool names(std::string_view child) const noexcept;

 private:
  std::array<char, 40> tag_;  // no string: it is never empty, also where it was moved from
  std::string directory_;
  std::string path_;
};

}  // namespace zklock
