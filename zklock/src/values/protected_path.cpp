#include <zklock/path.hpp>
#include <zklock/recipe_kit/protected_path.hpp>

#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <algorithm>

namespace zklock {

namespace {

constexpr std::string_view form = "_c_00000000-0000-4000-8000-000000000000-";

std::array<char, form.size()> make_tag() {
  const boost::uuids::uuid id = boost::uuids::random_generator{}();
  std::array<char, form.size()> tag{};
  std::ranges::copy(form, tag.begin());
  boost::uuids::to_chars(id, tag.begin() + form.find('0'));
  return tag;
}

}  // namespace

ProtectedPath::ProtectedPath(std::string_view directory, std::string_view name)
    : tag_{make_tag()}, directory_{directory} {
  path_ = join_path(directory_, std::string_view{tag_.data(), tag_.size()});
  path_ += name;
}

ProtectedPath::ProtectedPath(std::string_view path) : ProtectedPath{parent_path(path), node_name(path)} {}

bool ProtectedPath::names(std::string_view child) const noexcept {
  return child.starts_with(std::string_view{tag_.data(), tag_.size()});
}

}  // namespace zklock
