// The names of an enumeration's values, as the compiler spells them.
#pragma once

#include <set>
#include <string_view>
#include <utility>

namespace zklock::test {

/// The compiler spells an enumerator by its name and any other value as a cast: "(zklock::Error)8".
template <class Enum, Enum value>
constexpr std::string_view enumerator_name() {
  constexpr std::string_view function = __PRETTY_FUNCTION__;
  constexpr auto begin = function.find("value = ") + 8;
  constexpr auto spelled = function.substr(begin, function.find_first_of(";]", begin) - begin);
  return spelled.front() == '(' ? std::string_view{} : spelled.substr(spelled.rfind(':') + 1);
}

constexpr int lowest_value = -200;
constexpr int highest_value = 200;

template <class Enum, int... offsets>
std::set<std::string_view> names_of_enumerators(std::integer_sequence<int, offsets...>) {
  std::set<std::string_view> names{enumerator_name<Enum, static_cast<Enum>(lowest_value + offsets)>()...};
  names.erase("");
  return names;
}

/// The enumerators from -200 to 200.
template <class Enum>
std::set<std::string_view> names_of_enumerators() {
  return names_of_enumerators<Enum>(std::make_integer_sequence<int, highest_value - lowest_value + 1>{});
}

}  // namespace zklock::test
