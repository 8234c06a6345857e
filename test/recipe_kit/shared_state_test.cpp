#include "support/catch.hpp"

#include <zklock/recipe_kit/shared_state.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace zklock;

namespace {

struct Part {
  std::string name{};
};

struct Whole {
  std::shared_ptr<Part> part{};
};

std::shared_ptr<Part> find_or_make(detail::SharedState& state, const std::string& name) {
  return state.find_or_make<Part>(name, [&] { return std::make_shared<Part>(Part{name}); });
}

}  // namespace

TEST_CASE("a part of a client's shared state is made once, and again when it has no user any more") {
  detail::SharedState state;
  auto part = find_or_make(state, "/a");
  CHECK(find_or_make(state, "/a") == part);
  CHECK(find_or_make(state, "/b") != part);
  part->name = "used";
  part.reset();
  CHECK(find_or_make(state, "/a")->name == "/a");
}

TEST_CASE("a part of a client's shared state may be made of other parts") {
  detail::SharedState state;
  std::vector<std::shared_ptr<Whole>> wholes;
  for (int i = 0; i < 300; ++i) {  // expired entries are swept meanwhile
    const std::string name = std::to_string(i);
    const auto make = [&] { return std::make_shared<Whole>(Whole{find_or_make(state, name)}); };
    wholes.push_back(state.find_or_make<Whole>(name, make));
    static_cast<void>(find_or_make(state, "expired " + name));
    CHECK(state.find_or_make<Whole>(name, make) == wholes.back());
    CHECK(find_or_make(state, name) == wholes.back()->part);
  }
}
