#include "support/catch.hpp"

#include <zklock/acl.hpp>

#include <string>

using namespace zklock;

namespace {

bool passes(std::string id) { return validate_acl({{Permission::all, "digest", std::move(id)}}).empty(); }

}  // namespace

TEST_CASE("a digest in an ACL is one, and no password") {
  CHECK(passes("alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E="));
  CHECK(passes("alice:" + std::string(43, 'A') + "="));   // SHA-256
  CHECK(passes("alice:" + std::string(64, '/')));         // SHA-384
  CHECK(passes("alice:" + std::string(86, '+') + "=="));  // SHA-512
  for (const char* digest :
       {"", "secret", "x", "aYXlLOpEooaV1cRAvUL1fp9Qt7E", "aYXlLOpEooaV1cRAvUL1fp9Qt7===",
        "a:XlLOpEooaV1cRAvUL1fp9Qt7E=", "=YXlLOpEooaV1cRAvUL1fp9Qt7Ea", "a-_lLOpEooaV1cRAvUL1fp9Qt7E="})
    CHECK_FALSE(passes(std::string{"alice:"} + digest));
  CHECK_FALSE(passes("alice"));
  CHECK(validate_acl({{Permission::all, "x509", "alice:secret"}}).empty());
}
