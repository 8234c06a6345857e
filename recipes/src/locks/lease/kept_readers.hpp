// The read lock that its client keeps: one node of the client serves all its readers.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace zklock::detail {

class KeptReaderNode;

/// The node that the client keeps for its readers on one path, and whether the next acquire may make one.
///
/// Threads: any.
class KeptReaders {
 public:
  KeptReaders() = default;
  KeptReaders(const KeptReaders&) = delete;
  KeptReaders& operator=(const KeptReaders&) = delete;

  /// A place among the holders of the kept node. It is given back unless it is used: the acquire may be cancelled, or
  /// fail.
  class Entry {
   public:
    Entry() noexcept = default;
    explicit Entry(std::shared_ptr<KeptReaderNode> node) noexcept : node_{std::move(node)} {}
    Entry(Entry&& other) noexcept : node_{std::exchange(other.node_, nullptr)} {}
    Entry& operator=(Entry&& other) noexcept {
      std::swap(node_, other.node_);
      return *this;
    }
    ~Entry();
    /// Null: there is none.
    [[nodiscard]] const std::shared_ptr<KeptReaderNode>& node() const noexcept { return node_; }
    /// A held lock has it now, and KeptReaderNode::take_back gives it back.
    [[nodiscard]] std::shared_ptr<KeptReaderNode> use() noexcept { return std::exchange(node_, nullptr); }

   private:
    std::shared_ptr<KeptReaderNode> node_;
  };

  /// Null: no node is kept, or it drains.
  [[nodiscard]] Entry enter() const;
  /// The node that is held or kept; null: there is none, or it drains.
  [[nodiscard]] std::shared_ptr<KeptReaderNode> node() const;
  /// That one, which has its first holder, from now on.
  void become(const std::shared_ptr<KeptReaderNode>& node);

  // ---- whether to keep: only a client that does not meet writers does

  /// An acquire has made a node, and has seen a writer in the queue, or none.
  void on_enqueued(bool has_no_writer) noexcept { quiet_ = has_no_writer; }
  /// A writer may have come, or the keeping has ended otherwise.
  void on_asked() noexcept { quiet_ = false; }
  /// The last acquire saw no writer, and none has come since as far as the client knows.
  [[nodiscard]] bool is_quiet() const noexcept { return quiet_; }

 private:
  std::atomic<bool> quiet_{false};
  mutable std::mutex mutex_;
  std::weak_ptr<KeptReaderNode> node_;
};

}  // namespace zklock::detail
