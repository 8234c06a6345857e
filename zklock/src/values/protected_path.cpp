#include <zklock/path.hpp>
#include <zklock/recipe_kit/protected_path.hpp>

#include <boost/uuid/uuid.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include <pthread.h>
#include <unistd.h>

namespace zklock {

namespace {

/// Random bytes of the system, which are asked for in one call for many tags.
struct Entropy {
  static constexpr std::size_t size = 256;
  std::array<unsigned char, size> bytes;
  std::size_t used = size;
};
constinit thread_local Entropy entropy{};

/// A forked child would have the bytes of its parent. It has only the thread that has forked.
[[maybe_unused]] const int registered = ::pthread_atfork(nullptr, nullptr, [] { entropy.used = Entropy::size; });

boost::uuids::uuid make_uuid() {
  boost::uuids::uuid id{};
  if (entropy.used + id.size() > Entropy::size) {
    if (::getentropy(entropy.bytes.data(), Entropy::size) != 0)
      throw std::system_error{errno, std::generic_category(), "random bytes for a node's name"};
    entropy.used = 0;
  }
  std::copy_n(entropy.bytes.begin() + static_cast<std::ptrdiff_t>(entropy.used), id.size(), id.begin());
  entropy.used += id.size();
  *(id.begin() + 6) = static_cast<unsigned char>((*(id.begin() + 6) & 0x0f) | 0x40);  // version 4, random
  *(id.begin() + 8) = static_cast<unsigned char>((*(id.begin() + 8) & 0x3f) | 0x80);  // RFC 4122's variant
  return id;
}

constexpr std::string_view form = "_c_00000000-0000-4000-8000-000000000000-";

std::array<char, form.size()> make_tag() {
  const boost::uuids::uuid id = make_uuid();
  std::array<char, form.size()> tag{};
  std::ranges::copy(form, tag.begin());
  boost::uuids::to_chars(id, tag.begin() + form.find('0'));
  return tag;
}

}  // namespace

ProtectedPath::ProtectedPath(std::string_view directory, std::string_view name)
    : tag_{make_tag()}, directory_{directory}, name_{name} {}

ProtectedPath::ProtectedPath(std::string_view path) : ProtectedPath{parent_path(path), node_name(path)} {}

std::string ProtectedPath::path() const {
  std::string path;
  path.reserve(directory_.size() + 1 + tag_.size() + name_.size());
  path += directory_;
  if (!path.ends_with('/')) path += '/';
  path.append(tag_.data(), tag_.size());
  return path += name_;
}

bool ProtectedPath::names(std::string_view child) const noexcept {
  return child.starts_with(std::string_view{tag_.data(), tag_.size()});
}

}  // namespace zklock
