#include <zklock/recipes/locks/lock_error.hpp>

#include <algorithm>
#include <iterator>
#include <string>

namespace zklock {

namespace {

struct Row {
  LockError error;
  Outcome outcome;
  const char* message;
};

constexpr auto definite = Outcome::not_applied;
constexpr auto ambiguous = Outcome::ambiguous;

using enum LockError;

/// docs/errors.md explains each row.
constexpr Row table[] = {
    {lock_lost, ambiguous, "the lock is lost: somebody else may hold it; stop using what it protects"},
    {not_owner, definite, "the lock is not held by this owner"},
    {sequence_exhausted, definite,
     "the lock's sequence numbers are nearly used up; let its directory become empty and be deleted"},
    {too_many_reentries, definite, "the owner holds the lock too many times; is a release missing?"},
    {invalid_lock_path, definite, "invalid lock path"},
    {invalid_permits, definite, "invalid number of permits: less than one, or more than there can be"},
    {mixed_lock_kinds, definite,
     "locks of different kinds on one path do not exclude each other; use one kind for each path"},
};

const Row* find(int number) noexcept {
  const auto* row = std::ranges::find(table, number, [](const Row& each) { return static_cast<int>(each.error); });
  return row == std::end(table) ? nullptr : row;
}

class Category final : public ErrorCategory {
 public:
  const char* name() const noexcept override { return "zklock.lock"; }

  std::string message(int number) const override {
    if (number == 0) return "success";
    const Row* row = find(number);
    return row ? row->message : "lock error " + std::to_string(number);
  }

  Outcome outcome(int number) const noexcept override {
    const Row* row = find(number);
    return row ? row->outcome : ambiguous;
  }

  boost::system::error_condition default_error_condition(int number) const noexcept override {
    if (static_cast<LockError>(number) != not_owner) return {number, *this};
    return boost::system::errc::make_error_condition(boost::system::errc::operation_not_permitted);
  }
};

}  // namespace

const ErrorCategory& lock_error_category() noexcept {
  static const Category category;
  return category;
}

error_code make_error_code(LockError error) noexcept { return {static_cast<int>(error), lock_error_category()}; }

}  // namespace zklock
