// Paths come from users, and, in listings, from any client that writes to the ensemble.
#include "check.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/locks/lock_path.hpp>

using namespace zklock;
using fuzz::check;

namespace {

void check_accepted(std::string_view path) {
  check(path.starts_with('/'), "a path is absolute");
  check(path == "/" || !path.ends_with('/'), "a path does not end in '/'");
  for (const char byte : path) check(static_cast<unsigned char>(byte) >= ' ' && byte != 0x7f, "a path has no controls");
  for (const std::string& part : fuzz::split(path.substr(1), '/'))
    check(path == "/" || (!part.empty() && part != "." && part != ".."), "a component is a name");

  check(join_path(parent_path(path), node_name(path)) == path, "parent and name, joined, are the path");
  const std::string child = join_path(path, "child");
  check(!validate_path(child, std::nothrow), "a path has children");
  check(parent_path(child) == path && node_name(child) == "child", "a child's parent is the path");
}

/// Undoes quoted(). Nothing else begins with a backslash.
std::string unquoted(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      result += text[at];
    } else if (text.substr(at + 1, 1) != "x") {
      result += text.substr(++at, 1);
    } else {
      result += static_cast<char>(std::stoi(std::string{text.substr(at + 2, 2)}, nullptr, 16));
      at += 3;
    }
  }
  return result;
}

void check_quoted(std::string_view text) {
  std::string quotes = zklock::quoted(text);
  const bool cut = quotes.ends_with("\"...");
  if (cut) quotes.resize(quotes.size() - 3);
  check(quotes.size() >= 2 && quotes.starts_with('"') && quotes.ends_with('"'), "quotes are around it");
  for (const char byte : quotes)
    check(static_cast<unsigned char>(byte) >= ' ' && byte != 0x7f, "no controls are in it");
  const std::string plain = unquoted(std::string_view{quotes}.substr(1, quotes.size() - 2));
  check(cut ? text.starts_with(plain) && plain.size() >= 200 && plain.size() < text.size() : text == plain,
        "what is quoted can be read back");
}

}  // namespace

void fuzz_one(std::string_view input) {
  check_quoted(input);
  const Flaw flaw = validate_path(input, std::nothrow);
  check(fuzz::succeeds([&] { validate_path(input); }, Error::invalid_path) == !flaw, "a flaw is what is refused");
  const bool lock = fuzz::succeeds([&] { validate_lock_path(input); }, LockError::invalid_lock_path);
  check(!lock || (!flaw && input.size() <= 1000 && input != "/"), "a lock's path is a path");
  check(!flaw || flaw.offset <= input.size(), "a flaw is in the text");

  if (!flaw) check_accepted(input);
  // From any text it reaches the root, in no more steps than the text has bytes.
  std::string_view path = input;
  for (std::size_t steps = 0; path != "/"; ++steps) {
    check(steps <= input.size(), "parents come to an end");
    path = parent_path(path);
    check(flaw || !validate_path(path, std::nothrow), "a path's parent is a path");
  }
}
