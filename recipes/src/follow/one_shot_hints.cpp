#include "hints.hpp"

#include <zklock/recipe_kit/watch_listener.hpp>

#include <unordered_map>

namespace zklock {

namespace {

class OneShotHints final : public Hints, public std::enable_shared_from_this<OneShotHints> {
 public:
  OneShotHints() : data_{*this, Aspect::data}, children_{*this, Aspect::children} {}

  /// The listener hears within this call, so that no event is queued behind a later reply.
  void armed(const Item& item, Watch watch) override {
    Watch& kept = watches_[item];
    kept = std::move(watch);
    listen(kept, std::shared_ptr<WatchListener>{shared_from_this(), item.aspect == Aspect::data ? &data_ : &children_});
  }

  void forget(const Item& item) override { watches_.erase(item); }
  void forget_all() override { watches_.clear(); }

 private:
  struct Listener final : WatchListener {
    Listener(OneShotHints& owner, Aspect which) : hints{owner}, aspect{which} {}
    void on_watch_event(const WatchEvent& event) override { hints.fired({aspect, event.path}, event.type); }

    OneShotHints& hints;
    Aspect aspect;
  };

  /// It is the event of the item's last watch: an earlier one is given up.
  void fired(const Item& item, WatchEventType type) {
    watches_.erase(item);
    if (event) event(item, type);
  }

  Listener data_;
  Listener children_;
  std::unordered_map<Item, Watch, ItemHash> watches_;
};

}  // namespace

std::shared_ptr<Hints> one_shot_hints() { return std::make_shared<OneShotHints>(); }

}  // namespace zklock
