#include "transactions.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string_view>

namespace zklock::chaos {
namespace {

/// ZooDefs.OpCode, as far as transactions have them.
enum class Type : std::int32_t {
  create = 1,
  remove = 2,
  set_data = 5,
  check = 13,
  multi = 14,
  create2 = 15,
  create_container = 19,
  delete_container = 20,
  create_ttl = 21,
  close_session = -11,
  error = -1
};

/// Reads a jute record.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_{bytes} {}

  [[nodiscard]] bool is_at_end() const { return bytes_.empty(); }
  std::int64_t number(std::size_t size) {
    std::uint64_t value = 0;
    for (const char byte : take(size)) value = value << 8 | static_cast<unsigned char>(byte);
    return size == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
  }
  std::int32_t get_int() { return static_cast<std::int32_t>(number(4)); }
  std::int64_t get_long() { return number(8); }
  bool get_bool() { return number(1) != 0; }
  std::string get_buffer() {
    const std::int32_t size = get_int();
    return size <= 0 ? std::string{} : std::string{take(static_cast<std::size_t>(size))};
  }
  void skip_acl() {
    for (std::int32_t left = get_int(); left > 0; --left) {
      get_int();
      get_buffer();
      get_buffer();
    }
  }

 private:
  std::string_view take(std::size_t size) {
    if (size > bytes_.size()) throw std::out_of_range{"a transaction log that ends too early"};
    const auto taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  std::string_view bytes_;
};

constexpr std::int32_t magic = 0x5a4b4c47;  // "ZKLG"
constexpr char end_of_record = 0x42;

void read_changes(Reader& in, Type type, ServerTransaction& transaction) {
  Change change;
  switch (type) {
    case Type::create:
    case Type::create2:
    case Type::create_container:
    case Type::create_ttl:
      change = {.kind = Change::Kind::create, .path = in.get_buffer(), .data = in.get_buffer()};
      in.skip_acl();
      change.is_ephemeral = (type == Type::create || type == Type::create2) && in.get_bool();
      break;
    case Type::remove:
    case Type::delete_container: change = {.kind = Change::Kind::remove, .path = in.get_buffer()}; break;
    case Type::set_data:
      change = {.kind = Change::Kind::set_data, .path = in.get_buffer(), .data = in.get_buffer()};
      break;
    case Type::check: change = {.kind = Change::Kind::check, .path = in.get_buffer()}; break;
    case Type::multi:
      for (std::int32_t left = in.get_int(); left > 0; --left) {
        const Type part = Type{in.get_int()};
        const std::string bytes = in.get_buffer();
        if (part == Type::error) return transaction.changes.clear();  // then all have failed
        Reader inner{bytes};
        read_changes(inner, part, transaction);
      }
      return;
    case Type::close_session: transaction.closes_session = true; return;
    default: return;
  }
  transaction.changes.push_back(std::move(change));
}

ServerTransaction parse(std::string_view bytes) {
  Reader in{bytes};
  ServerTransaction transaction;
  transaction.session = in.get_long();
  transaction.request = in.get_int();
  transaction.zxid = in.get_long();
  transaction.at = in.get_long() * 1'000;
  read_changes(in, Type{in.get_int()}, transaction);
  return transaction;
}

}  // namespace

std::vector<ServerTransaction> read_transactions(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  std::string bytes(std::filesystem::file_size(path), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  Reader in{bytes};
  if (bytes.size() < 16 || in.get_int() != magic) throw std::runtime_error{path.string() + " is no transaction log"};
  in.get_int();
  in.get_long();
  std::vector<ServerTransaction> all;
  try {
    while (!in.is_at_end()) {
      in.get_long();  // the checksum
      const std::string record = in.get_buffer();
      if (record.empty()) break;  // the file is filled up with zeroes
      if (static_cast<char>(in.number(1)) != end_of_record) break;
      all.push_back(parse(record));
    }
  } catch (const std::out_of_range&) {  // the server was killed while it wrote this
  }
  return all;
}

std::vector<ServerTransaction> merge_committed(const std::vector<std::vector<ServerTransaction>>& logs) {
  const auto epoch_of = [](std::int64_t zxid) { return zxid >> 32; };
  std::map<std::int64_t, std::vector<std::int64_t>> ends;  // of each epoch, the last transaction that each server has
  for (const auto& log : logs) {
    std::map<std::int64_t, std::int64_t> last;
    for (const ServerTransaction& each : log)
      last[epoch_of(each.zxid)] = std::max(last[epoch_of(each.zxid)], each.zxid);
    for (const auto& [epoch, zxid] : last) ends[epoch].push_back(zxid);
  }
  std::map<std::int64_t, ServerTransaction> merged;
  for (const auto& log : logs)
    for (const ServerTransaction& each : log) {
      auto& last = ends[epoch_of(each.zxid)];
      std::ranges::sort(last, std::greater{});
      const bool is_committed = logs.size() == 1 || (last.size() > 1 && each.zxid <= last[1]);
      if (is_committed) merged.emplace(each.zxid, each);
    }
  std::vector<ServerTransaction> all;
  for (auto& [zxid, transaction] : merged) all.push_back(std::move(transaction));
  return all;
}

std::vector<ServerTransaction> merge_transactions(const std::filesystem::path& directory) {
  std::map<std::string, std::vector<ServerTransaction>> servers;
  for (const auto& entry : std::filesystem::directory_iterator{directory}) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("log.")) continue;
    auto& log = servers[name.substr(0, name.rfind('.'))];
    for (ServerTransaction& each : read_transactions(entry.path())) log.push_back(std::move(each));
  }
  std::vector<std::vector<ServerTransaction>> logs;
  for (auto& [server, log] : servers) logs.push_back(std::move(log));
  return merge_committed(logs);
}

}  // namespace zklock::chaos
