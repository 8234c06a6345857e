#include "top_rows.hpp"

#include "duration.hpp"
#include "table.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>
#include <utility>

namespace zklock::tools {
namespace {

bool is_known(const LockParticipant& one) noexcept { return one.fencing_token > 0; }

std::string in_lower_case(std::string text) {
  for (char& byte : text)
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
  return text;
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{in_lower_case(std::string{text})};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool matches(const BoardLock& lock, const std::vector<std::string>& words) {
  if (words.empty()) return true;
  std::string text = lock.path + " " + lock.kind;
  if (lock.holders > 0) text += " " + lock.holder.client_id + " " + to_hexadecimal(lock.holder.session_id);
  text = in_lower_case(std::move(text));
  return std::ranges::all_of(words, [&](const std::string& word) { return text.find(word) != text.npos; });
}

/// What is not known comes last.
auto lock_rank(const BoardLock* lock) {
  const auto since = [](std::size_t count, const LockParticipant& one) {
    return count > 0 && is_known(one) ? one.since : WallTime::max();
  };
  return std::tuple{since(lock->waiting, lock->waiter), since(lock->holders, lock->holder),
                    std::string_view{lock->path}};
}

std::string age_or_dash(const std::optional<std::chrono::milliseconds>& age) { return age ? format_age(*age) : "-"; }

}  // namespace

std::optional<std::chrono::milliseconds> age_of(const LockParticipant& one, WallTime now) {
  using std::chrono::milliseconds;
  if (!is_known(one)) return std::nullopt;
  return std::max(std::chrono::duration_cast<milliseconds>(now - one.since), milliseconds::zero());
}

std::string name_of(const LockParticipant& one) {
  if (!is_known(one)) return "?";
  if (!one.client_id.empty()) return one.client_id;
  return has_session(one) ? to_hexadecimal(one.session_id) : "nobody";
}

TopRow row_of(const BoardLock& lock, WallTime now) {
  TopRow row{lock.path, lock.kind, lock.holders, lock.waiting, {}, false, {}, {}, lock.readable};
  if (lock.holders > 0) {
    row.holder = name_of(lock.holder);
    row.is_asked = lock.holder.revocation_requested;
    row.held = age_of(lock.holder, now);
  }
  if (lock.waiting > 0) row.wait = age_of(lock.waiter, now);
  return row;
}

std::vector<const BoardLock*> arrange(const LockBoard& board, std::string_view filter) {
  const auto words = words_of(filter);
  std::vector<const BoardLock*> locks;
  for (const auto& [path, lock] : board.locks())
    if (matches(lock, words)) locks.push_back(&lock);
  std::ranges::sort(locks, {}, lock_rank);
  return locks;
}

bool is_complete(const BoardLock& lock) noexcept {
  return (lock.holders == 0 || is_read(lock.holder)) && (lock.waiting == 0 || is_read(lock.waiter));
}

std::string to_table(const std::vector<TopRow>& rows) {
  Table table{{"LOCK", "KIND", "HOLDERS", "WAITING", "HELD", "LONGEST", "HOLDER"}};
  for (const TopRow& row : rows)
    table.push_back({row.path, row.kind, std::to_string(row.holders), std::to_string(row.waiting),
                     age_or_dash(row.held), age_or_dash(row.wait), row.holder.empty() ? "-" : row.holder});
  return to_text(table);
}

}  // namespace zklock::tools
