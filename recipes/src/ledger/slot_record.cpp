#include "slot_record.hpp"

namespace zklock::detail {

std::string done_mark(std::int32_t base) { return std::to_string(std::int64_t{base} + 1) + " done"; }

std::string void_mark(std::int32_t base) { return std::to_string(std::int64_t{base} + 1) + " void"; }

AfterLoss after_loss(std::int32_t base, const std::optional<SeenSlot>& seen, Clock::duration age) {
  if (!seen) return age < slot_lifetime ? AfterLoss::elsewhere : AfterLoss::unknown;
  if (seen->version == base) return AfterLoss::again;
  if (seen->data == done_mark(base)) return AfterLoss::done;
  return seen->data == void_mark(base) ? AfterLoss::is_void : AfterLoss::unknown;
}

std::string escaped(std::string_view name) {
  std::string text;
  const bool is_dots = name == "." || name == "..";
  for (const char c : name) {
    if (c == '%') {
      text += "%25";
    } else if (c == '/') {
      text += "%2F";
    } else if (c == '.' && is_dots) {
      text += "%2E";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace zklock::detail
