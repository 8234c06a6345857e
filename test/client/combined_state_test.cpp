#include "client_core.hpp"
#include "support/catch.hpp"

using namespace zklock;

TEST_CASE("the combined state of several sessions is the worst of their states") {
  using enum ConnectionState;
  const struct {
    std::vector<ConnectionState> each;
    bool connected_before;
    ConnectionState expected;
  } cases[] = {
      {{connecting}, false, connecting},
      {{connected}, false, connected},
      {{suspended}, true, suspended},
      {{reconnected}, true, reconnected},
      {{connecting, connected}, false, connecting},
      {{connected, connected}, false, connected},
      {{connected, reconnected}, true, reconnected},
      {{connected, suspended, reconnected}, true, suspended},
      {{suspended, lost, connected}, true, lost},
      {{read_only, connected}, true, read_only},
      {{suspended, read_only}, true, suspended},
      {{connecting, connected}, true, suspended},  // one of them has yet to connect, the others were connected before
      {{lost, closed}, true, lost},
      {{closed, closed}, true, closed},
  };
  for (const auto& [each, connected_before, expected] : cases)
    CHECK(detail::combined(each, connected_before) == expected);
}
