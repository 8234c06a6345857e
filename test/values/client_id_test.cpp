#include "support/catch.hpp"

#include <zklock/client_id.hpp>

#include <boost/system/system_error.hpp>

using namespace zklock;

TEST_CASE("generated client ids are valid and distinct") {
  const std::string one = make_client_id();
  CHECK_NOTHROW(validate_client_id(one));
  CHECK(one != make_client_id());
}

TEST_CASE("bad client ids are refused") {
  for (const std::string& bad : {std::string{}, std::string{"a:b"}, std::string{"a\nb"}, std::string{"a\0b", 3},
                                 std::string{"\xff"}, std::string(129, 'x')}) {
    INFO(bad);
    CHECK_THROWS_AS(validate_client_id(bad), boost::system::system_error);
  }
  CHECK_NOTHROW(validate_client_id(std::string(128, 'x')));
  CHECK_NOTHROW(validate_client_id("..a//b"));
}
