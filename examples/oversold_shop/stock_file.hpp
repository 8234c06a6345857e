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

/// A resource with fencing: it refuses a token that is lower than the highest seen. A read passes a token, too: so once
/// a new holder has read, an older holder that wakes up in mid-sale cannot write any more.
///
/// Check and access are atomic, under flock; nothing is locked between a read and the write that follows.
class StockFile {
 public:
  static void create(const std::string& path, int stock);
  explicit StockFile(const std::string& path);
  ~StockFile();
  StockFile(const StockFile&) = delete;
  StockFile& operator=(const StockFile&) = delete;

  /// std::nullopt: refused.
  [[nodiscard]] std::optional<Shelf> read(Token token);
  /// False: refused.
  [[nodiscard]] bool write(const Shelf& shelf, Token token);
  /// Reads without a token, for the final check.
  [[nodiscard]] Shelf look() const;

 private:
  int descriptor_;
};

}  // namespace shop
