// How many holders a kept node has, and which of them deletes it.
#include "holder_count.hpp"

#include "support/catch.hpp"

#include <atomic>
#include <thread>
#include <vector>

using zklock::detail::HolderCount;

TEST_CASE("the last holder of a node that is asked for deletes it, and nobody enters any more") {
  HolderCount count;
  CHECK(count.holders() == 1);
  CHECK(count.enter());
  CHECK(count.holders() == 2);
  CHECK_FALSE(count.leave());
  CHECK_FALSE(count.is_asked());
  CHECK_FALSE(count.ask());
  CHECK(count.is_asked());
  CHECK_FALSE(count.ask());
  CHECK_FALSE(count.enter());
  CHECK(count.holders() == 1);
  CHECK(count.leave());
}

TEST_CASE("a node without holders is deleted by the one that asks for it") {
  HolderCount count;
  CHECK_FALSE(count.leave());
  CHECK(count.enter());
  CHECK_FALSE(count.leave());
  CHECK(count.ask());
  CHECK_FALSE(count.ask());
  CHECK_FALSE(count.enter());
}

TEST_CASE("of the threads that enter, leave and ask at once, exactly one deletes the node, when nobody is inside") {
  for (int round = 0; round < 200; ++round) {
    HolderCount count;
    std::atomic<int> inside{1};
    std::atomic<int> deletes{0};
    std::atomic<int> deleted_under_a_holder{0};
    const auto is_over = [&](bool last) {
      if (!last) return;
      ++deletes;
      if (inside > 0) ++deleted_under_a_holder;
    };
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
          while (count.enter()) {
            ++inside;
            --inside;
            is_over(count.leave());
          }
        });
      threads.emplace_back([&] {
        --inside;
        is_over(count.leave());
        is_over(count.ask());
      });
    }
    CHECK(deletes == 1);
    CHECK(deleted_under_a_holder == 0);
    CHECK(count.holders() == 0);
  }
}
