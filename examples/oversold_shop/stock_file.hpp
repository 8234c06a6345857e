// The one shared file: how many are left, how many are sold, and the highest fencing token that it has seen.
#pragma once

#include "shop.hpp"

#include <optional>
#include <string>

namespace shop {

struct Shelf {
  int stock = 0;
  int sold = 0;

  friend bool operator==(const Shelf&, const Shelf&) = default;
};

/// A resource with fencing: whoever shows a token lower than the highest seen is refused. Reading shows a token, too,
/// so that from the moment a new holder has read, an older one that wakes up in mid-sale can write no more.
///
/// Check and access are atomic, under flock; nothing is locked between a read and the write that follows.
class StockFile {
 public:
  static void create(const std::string& path, int stock);
  explicit StockFile(const std::string& path);
  ~StockFile();
  StockFile(const StockFile&) = delete;
  StockFile& operator=(const StockFile&) = delete;

  /// Nothing: refused.
  [[nodiscard]] std::optional<Shelf> read(Token token);
  /// False: refused.
  [[nodiscard]] bool write(const Shelf& shelf, Token token);
  /// For the accounts.
  [[nodiscard]] Shelf look() const;

 private:
  int descriptor_;
};

}  // namespace shop
