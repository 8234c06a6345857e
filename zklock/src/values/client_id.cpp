#include <zklock/client_id.hpp>
#include <zklock/path.hpp>

#include <boost/system/system_error.hpp>

#include <array>
#include <cstdio>
#include <random>

#include <unistd.h>

namespace zklock {

namespace {

constexpr std::size_t max_id = 128;

std::string host_name() {
  std::array<char, 65> name{};
  ::gethostname(name.data(), name.size() - 1);
  std::string host{name.data()};
  for (char& c : host)
    if (c == ':' || static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f) c = '-';
  return host.empty() ? "host" : host;
}

}  // namespace

Flaw validate_client_id(std::string_view id, std::nothrow_t) {
  if (id.empty()) return {0, "it is empty"};
  if (id.size() > max_id) return {max_id, "it is longer than 128 bytes"};
  if (const auto colon = id.find(':'); colon != std::string_view::npos) return {colon, "it contains ':'"};
  // An id must not contain what a path component must not: control characters and broken UTF-8. '/' and dots are
  // allowed.
  std::string component{"/x"};
  for (const char c : id) component += c == '/' ? 'x' : c;
  const Flaw flaw = validate_path(component, std::nothrow);
  return flaw ? Flaw{flaw.offset - 2, flaw.reason} : flaw;
}

std::string make_client_id() {
  std::array<char, 9> hex{};
  std::snprintf(hex.data(), hex.size(), "%08x", std::random_device{}());
  return host_name() + "-" + std::to_string(::getpid()) + "-" + hex.data();
}

void validate_client_id(std::string_view id) {
  if (const Flaw flaw = validate_client_id(id, std::nothrow))
    throw boost::system::system_error{make_error_code(Error::invalid_client_id), std::string{flaw.reason}};
}

}  // namespace zklock
