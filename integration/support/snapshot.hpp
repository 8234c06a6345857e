// Changes to a server's data that the server does not make itself.
#pragma once

#include <zklock/testing/test_server.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace zklock::test {

namespace detail {

inline std::string big_endian(std::uint64_t number, std::size_t size) {
  std::string bytes;
  while (size > 0) bytes += static_cast<char>(number >> 8 * --size);
  return bytes;
}

inline std::filesystem::path newest_snapshot(const std::filesystem::path& below) {
  std::filesystem::path newest;
  std::uint64_t greatest = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{below}) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("snapshot.")) continue;
    const std::uint64_t zxid = std::stoull(name.substr(9), nullptr, 16);
    if (!newest.empty() && zxid < greatest) continue;
    greatest = zxid;
    newest = entry.path();
  }
  return newest;
}

/// The Adler-32 of a snapshot that grows.
class Checksum {
 public:
  void add(char byte) {
    low_ = (low_ + static_cast<unsigned char>(byte)) % 65'521;
    high_ = (high_ + low_) % 65'521;
  }
  /// The checksum as the server writes it behind the data: a long, and the string "/".
  [[nodiscard]] std::string seal() const { return big_endian(high_ << 16 | low_, 8) + big_endian(1, 4) + "/"; }

 private:
  std::uint64_t low_ = 1;
  std::uint64_t high_ = 0;
};

/// Where a snapshot's seal begins. A digest may follow, which a server can do without.
inline std::size_t find_seal(const std::string& snapshot) {
  Checksum checksum;
  for (std::size_t at = 0; at < snapshot.size(); ++at) {
    if (snapshot.compare(at, 13, checksum.seal()) == 0) return at;
    checksum.add(snapshot[at]);
  }
  throw std::runtime_error{"a snapshot without a seal"};
}

}  // namespace detail

/// Makes the next child of `directory` get this number, as if that many children had been made. The directory has no
/// data. Restarts the server for that.
inline void set_next_number(testing::TestServer& server, const std::string& directory, std::int32_t number) {
  server.restart();  // it writes a snapshot of everything when it starts
  server.stop();
  const std::filesystem::path file = detail::newest_snapshot(server.directory());
  std::ifstream input{file, std::ios::binary};
  std::string snapshot{std::istreambuf_iterator<char>{input}, {}};
  snapshot.resize(detail::find_seal(snapshot));
  // DataNode and StatPersisted of the release: the path, the data, a number for the ACL, czxid, mzxid, ctime, mtime,
  // version, and cversion, which counts the children that were made.
  const std::string head = detail::big_endian(directory.size(), 4) + directory + detail::big_endian(0, 4);
  const auto at = snapshot.find(head);
  if (at == std::string::npos) throw std::runtime_error{"no node " + directory + " in " + file.string()};
  snapshot.replace(at + head.size() + 8 + 4 * 8 + 4, 4, detail::big_endian(static_cast<std::uint32_t>(number), 4));
  detail::Checksum checksum;
  for (const char byte : snapshot) checksum.add(byte);
  std::ofstream{file, std::ios::binary} << snapshot << checksum.seal();
  server.start();
}

}  // namespace zklock::test
