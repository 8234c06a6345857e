#include "worker_steps.hpp"

#include <charconv>

namespace zklock {

WorkerOutcome outcome_of_write(WorkerWrite write, const NumberSeen& seen, std::string_view owner,
                               std::int32_t version) {
  const bool is_own = seen.last.owner == owner && seen.holder == owner;
  const bool was_written = seen.last.version != version;
  if (is_own && seen.last.version == version + 1) return WorkerOutcome::done;
  const bool is_as_before = write == WorkerWrite::acquire ? seen.holder.empty() : is_own;
  return is_as_before && !was_written ? WorkerOutcome::again : WorkerOutcome::lost;
}

std::string encode(const LastUse& last) { return std::to_string(last.end) + ' ' + last.owner; }

LastUse decode_last_use(std::string_view data, std::int32_t version) {
  LastUse last{.end = LastUse::never, .version = version};
  std::int64_t end = 0;
  const auto [rest, failed] = std::from_chars(data.data(), data.data() + data.size(), end);
  if (failed != std::errc{} || rest == data.data() + data.size() || *rest != ' ' || end < 0) return last;
  last.end = end;
  last.owner = data.substr(static_cast<std::size_t>(rest - data.data()) + 1);
  return last;
}

std::vector<int> free_numbers(const std::vector<std::string>& taken, int count) {
  std::vector<bool> is_taken(static_cast<std::size_t>(count));
  for (const std::string& name : taken) {
    std::size_t number = is_taken.size();
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number < is_taken.size()) is_taken[number] = true;
  }
  std::vector<int> numbers;
  for (int number = 0; number < count; ++number)
    if (!is_taken[static_cast<std::size_t>(number)]) numbers.push_back(number);
  return numbers;
}

}  // namespace zklock
