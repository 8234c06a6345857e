// The data of a lock's nodes: nodes of Curator, or of any other program, may have any data.
#include "check.hpp"

#include <zklock/client_id.hpp>
#include <zklock/recipes/locks/lock_data.hpp>

using namespace zklock;
using fuzz::check;

namespace {

bool is_client_id(std::string_view id) {
  return fuzz::succeeds([&] { validate_client_id(id); }, Error::invalid_client_id);
}

}  // namespace

void fuzz_one(std::string_view input) {
  if (const auto data = parse_lock_data(input)) {
    check(format_lock_data(*data) == input, "what was parsed is written the same");
    check(is_client_id(data->client_id), "a parsed client id is valid");
    check(data->count >= 1 && data->count <= INT32_MAX, "a parsed count is possible");
  }
  if (!is_client_id(input)) return;
  check(input.size() <= 128 && input.find(':') == std::string_view::npos, "a client id is short and has no ':'");
  const LockData data{std::string{input}, static_cast<std::uint32_t>(1 + input.size() * 16'777'213u % INT32_MAX)};
  check(parse_lock_data(format_lock_data(data)) == data, "what was written is parsed the same");
}
