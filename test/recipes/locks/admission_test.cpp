// Which nodes a semaphore admits.
#include "admission.hpp"

#include "support/catch.hpp"

using namespace zklock;

namespace {

const std::string a = "_c_5f0c1d2e-3a4b-4c5d-8e6f-708192a3b4c5-lease-0000000001";
const std::string b = "_c_5f0c1d2e-3a4b-4c5d-8e6f-708192a3b4c6-lease-0000000002";
const std::string foreign = "x";

}  // namespace

TEST_CASE("an attempt's nodes are permits while there are no more children than permits") {
  struct Row {
    std::vector<std::string> children;
    std::vector<std::string> own;
    std::int32_t permits;
    Admission admission;
  };
  const Row rows[] = {
      {{a}, {a}, 1, Admission::granted},
      {{b, a}, {a}, 2, Admission::granted},
      {{b, a}, {a}, 1, Admission::full},
      {{a, b}, {a, b}, 2, Admission::granted},
      {{a, b}, {a, b}, 1, Admission::full},
      {{foreign, a}, {a}, 1, Admission::full},  // it may be a permit of another library
      {{foreign, a}, {a}, 2, Admission::granted},
      {{}, {a}, 1, Admission::missing},
      {{b}, {a}, 2, Admission::missing},
      {{a}, {a, b}, 2, Admission::missing},
      {{foreign, b}, {a}, 1, Admission::missing},
      {{a}, {a}, 0, Admission::full},
      {{a}, {a}, -1, Admission::full},
      {{a}, {a}, INT32_MIN, Admission::full},
      {{a}, {a}, INT32_MAX, Admission::granted},
  };
  for (const Row& row : rows) {
    INFO(row.children.size() << " children, " << row.own.size() << " own, " << row.permits << " permits");
    CHECK(admit(row.children, row.own, row.permits) == row.admission);
  }
}
