#include <zklock/recipes/nodes/share.hpp>

#include <cstdint>

namespace zklock {

namespace {

/// FNV-1a with the finalizer of SplitMix64, which FNV lacks: names that differ in their last letter must give numbers
/// that differ in all bits. The result is the same on all machines and in all versions, as members must agree on it.
class Hash {
 public:
  void add(std::string_view text) {
    for (const char each : text) value_ = (value_ ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  }
  [[nodiscard]] std::uint64_t value() const {
    std::uint64_t mixed = value_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

std::uint64_t weight(std::string_view item, std::string_view member) {
  Hash hash;
  hash.add(item);
  hash.add(std::string_view{"\0", 1});  // "ab" and "c" are not "a" and "bc"
  hash.add(member);
  return hash.value();
}

/// Of two members with equal weights, which hardly ever happens, the one whose name comes first.
const std::string* owner_among(std::string_view item, const std::vector<std::string>& members) {
  const std::string* best = nullptr;
  std::uint64_t greatest = 0;
  for (const std::string& member : members) {
    const std::uint64_t own = weight(item, member);
    if (best && (own < greatest || (own == greatest && *best <= member))) continue;
    best = &member;
    greatest = own;
  }
  return best;
}

}  // namespace

std::string share_owner(std::string_view item, const std::vector<std::string>& members) {
  const std::string* owner = owner_among(item, members);
  return owner ? *owner : std::string{};
}

std::map<std::string, std::vector<std::string>> share(const std::vector<std::string>& items,
                                                      const std::vector<std::string>& members) {
  std::map<std::string, std::vector<std::string>> shares;
  for (const std::string& member : members) shares[member];
  for (const std::string& item : items)
    if (const std::string* owner = owner_among(item, members)) shares[*owner].push_back(item);
  return shares;
}

}  // namespace zklock
