// Node names that only their creator knows.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace zklock {

/// The path of a node to create, whose name begins with "_c_<uuid>-", in Curator's form. By this tag the node is found
/// after a lost reply, whatever the rest of its name; no other node has the tag.
class ProtectedPath {
 public:
  /// Makes a tag for `name`, which may be empty, in `directory`.
  ProtectedPath(std::string_view directory, std::string_view name);
  /// Splits the path of a create: "/jobs/n-" is "n-" in "/jobs", and "/jobs/" is an empty name in "/jobs".
  explicit ProtectedPath(std::string_view path);

  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  /// Of the tag, without the marks around it.
  [[nodiscard]] std::string uuid() const { return {tag_.begin() + 3, tag_.begin() + 39}; }
  /// The path for the create request.
  [[nodiscard]] std::string path() const;
  /// Whether `child` of the directory is the node, with or without digits after its name.
  [[nodiscard]] bool names(std::string_view child) const noexcept;

 private:
  std::array<char, 40> tag_;  // not a string: it is never empty, even after a move
  std::string directory_;
  std::string name_;  // what follows the tag
};

}  // namespace zklock
