// Entries by id. The C client gets ids, never pointers: it may answer late, or for entries that were forgotten.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace zklock {

/// A slot map: an id is a slot's index and its generation, so that the id of an entry that is gone finds nothing. Ids
/// are never 0.
template <class T>
class SlotMap {
 public:
  using Id = std::uint64_t;

  Id add(T value) {
    if (free_ == none) {
      free_ = static_cast<std::uint32_t>(slots_.size());
      slots_.emplace_back();
    }
    const std::uint32_t index = free_;
    Slot& slot = slots_[index];
    free_ = slot.next_free;
    slot.value.emplace(std::move(value));
    ++size_;
    return Id{slot.generation} << 32 | index;
  }

  [[nodiscard]] T* find(Id id) noexcept {
    const auto index = static_cast<std::uint32_t>(id);
    if (index >= slots_.size()) return nullptr;
    Slot& slot = slots_[index];
    return slot.value && slot.generation == id >> 32 ? &*slot.value : nullptr;
  }

  std::optional<T> take(Id id) {
    T* value = find(id);
    if (!value) return std::nullopt;
    const auto index = static_cast<std::uint32_t>(id);
    Slot& slot = slots_[index];
    std::optional<T> taken{std::move(*value)};
    slot.value.reset();
    ++slot.generation;
    slot.next_free = std::exchange(free_, index);
    --size_;
    return taken;
  }

  [[nodiscard]] std::vector<Id> ids() const {
    std::vector<Id> all;
    for (std::uint32_t index = 0; index < slots_.size(); ++index)
      if (slots_[index].value) all.push_back(Id{slots_[index].generation} << 32 | index);
    return all;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct Slot {
    std::uint32_t generation = 1;
    std::uint32_t next_free = none;
    std::optional<T> value;
  };

  std::vector<Slot> slots_;
  std::uint32_t free_ = none;
  std::size_t size_ = 0;
};

}  // namespace zklock
