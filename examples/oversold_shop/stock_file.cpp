#include "stock_file.hpp"

#include "system_failure.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace shop {
namespace {

struct Record {
  Shelf shelf;
  Token highest_token = 0;
};

Record load(int descriptor) {
  std::array<char, 128> text{};
  if (::pread(descriptor, text.data(), text.size() - 1, 0) < 0) fail("read the stock file");
  Record record;
  long long token = 0;
  if (std::sscanf(text.data(), "stock %d sold %d token %lld", &record.shelf.stock, &record.shelf.sold, &token) != 3)
    throw std::runtime_error{"the stock file is damaged"};
  record.highest_token = token;
  return record;
}

// The record always has the same length, so that one pwrite replaces all of it.
void store(int descriptor, const Record& record) {
  std::array<char, 128> text{};
  const int length = std::snprintf(text.data(), text.size(), "stock %10d sold %10d token %20lld\n", record.shelf.stock,
                                   record.shelf.sold, static_cast<long long>(record.highest_token));
  if (::pwrite(descriptor, text.data(), static_cast<std::size_t>(length), 0) != length) fail("write the stock file");
}

class FileLock {
 public:
  explicit FileLock(int descriptor) : descriptor_{descriptor} {
    while (::flock(descriptor_, LOCK_EX) != 0)
      if (errno != EINTR) fail("flock the stock file");
  }
  ~FileLock() { ::flock(descriptor_, LOCK_UN); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

int open_file(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | flags, 0600);
  if (descriptor < 0) fail(path);
  return descriptor;
}

}  // namespace

void StockFile::create(const std::string& path, int stock) {
  const int descriptor = open_file(path, O_CREAT | O_EXCL);
  store(descriptor, {{stock, 0}, 0});
  ::close(descriptor);
}

StockFile::StockFile(const std::string& path) : descriptor_{open_file(path, 0)} {}
StockFile::~StockFile() { ::close(descriptor_); }

std::optional<Shelf> StockFile::read(Token token) {
  const FileLock lock{descriptor_};
  Record record = load(descriptor_);
  if (token < record.highest_token) return std::nullopt;
  record.highest_token = token;
  store(descriptor_, record);
  return record.shelf;
}

bool StockFile::write(const Shelf& shelf, Token token) {
  const FileLock lock{descriptor_};
  if (token < load(descriptor_).highest_token) return false;
  store(descriptor_, {shelf, token});
  return true;
}

Shelf StockFile::look() const {
  const FileLock lock{descriptor_};
  return load(descriptor_).shelf;
}

}  // namespace shop
