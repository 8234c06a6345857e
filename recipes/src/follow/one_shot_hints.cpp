#include "hints.hpp"

#include <cstdint>
#include <unordered_map>

namespace zklock {

namespace {

class OneShotHints final : public Hints, public std::enable_shared_from_this<OneShotHints> {
 public:
  explicit OneShotHints(asio::any_io_executor serial) : serial_{std::move(serial)} {}

  /// The wait begins within this call, so that no event is queued behind a later reply.
  void armed(const Item& item, Watch watch) override {
    Armed& entry = watches_[item];
    entry.number = ++last_number_;
    entry.watch = std::move(watch);
    entry.watch.async_wait(asio::bind_executor(
        serial_, [weak = weak_from_this(), item, number = entry.number](error_code error, const WatchEvent& happened) {
          if (const auto self = weak.lock(); self && !error) self->fired(item, number, happened.type);
        }));
  }

  void forget(const Item& item) override { watches_.erase(item); }
  void forget_all() override { watches_.clear(); }
  bool is_armed(const Item& item) const override { return watches_.contains(item); }

 private:
  struct Armed {
    std::uint64_t number = 0;
    Watch watch;
  };

  void fired(const Item& item, std::uint64_t number, WatchEventType type) {
    const auto found = watches_.find(item);
    if (found == watches_.end() || found->second.number != number) return;
    watches_.erase(found);
    if (event) event(item, type);
  }

  asio::any_io_executor serial_;
  std::unordered_map<Item, Armed, ItemHash> watches_;
  std::uint64_t last_number_ = 0;
};

}  // namespace

std::shared_ptr<Hints> one_shot_hints(asio::any_io_executor serial) {
  return std::make_shared<OneShotHints>(std::move(serial));
}

}  // namespace zklock
