// I20 on histories made by hand, in which it holds or is violated.
#include "follow_story.hpp"
#include "support/catch.hpp"

using namespace zklock;
using namespace zklock::chaos;

namespace {

const std::string path = "/counts/0";

std::string bytes(int value) { return {0, 0, 0, static_cast<char>(value)}; }

void adds(FollowStory& story, std::int64_t operation, std::int64_t from, std::int64_t to, std::int64_t by) {
  story.says(static_cast<double>(operation) - 0.1,
             {.event = Event::adds, .operation = operation, .lock = path, .token = to, .number = from, .limit = by});
}

void added(FollowStory& story, std::int64_t operation, const std::string& outcome, std::int64_t version = 0) {
  story.says(static_cast<double>(operation) + 0.1, {.event = Event::added,
                                                    .operation = operation,
                                                    .lock = path,
                                                    .token = operation,
                                                    .number = version,
                                                    .reason = outcome});
}

/// From 0 to 5 to 8; the third attempt comes too late. Operations have the numbers of their transactions.
FollowStory counts_to_eight() {
  FollowStory story;
  story.make(10, theirs, path, bytes(0)).set(11, theirs, path, bytes(5)).set(12, theirs, path, bytes(8));
  adds(story, 11, 0, 5, 5);
  added(story, 11, "ok", 1);
  adds(story, 12, 1, 8, 3);
  added(story, 12, "ok", 2);
  adds(story, 13, 1, 7, 2);
  added(story, 13, "no");
  story.user(21, Event::drained, 1, 0);
  return story;
}

std::size_t count(FollowStory& story) { return check_counts(story.tell()).size(); }

}  // namespace

TEST_CASE("I20: each success is one version, and each version one success") {
  FollowStory story = counts_to_eight();
  CHECK(count(story) == 0);
  SECTION("a version that nobody says it wrote") { story.set(14, theirs, path, bytes(9)); }
  SECTION("a version of the one that said no") { story.set(14, theirs, path, bytes(7)); }
  SECTION("a success that is no version") {
    adds(story, 14, 2, 9, 1);
    added(story, 14, "ok", 3);
  }
  SECTION("a success over another version than was read") {
    story.set(14, theirs, path, bytes(7));
    adds(story, 14, 1, 7, 2);
    added(story, 14, "ok", 3);
    CHECK(count(story) == 2);  // and the version has no author
    return;
  }
  SECTION("a value that is not the sum") {
    story.set(14, theirs, path, bytes(9));
    adds(story, 14, 2, 9, 2);
    added(story, 14, "ok", 3);
  }
  SECTION("a value that was not asked for") {
    story.set(14, theirs, path, bytes(9));
    adds(story, 14, 2, 10, 1);
    added(story, 14, "ok", 3);
  }
  SECTION("a success that is told twice") {
    adds(story, 15, 1, 8, 3);
    added(story, 15, "ok", 2);
    story.evidence.follows.back().token = 12;
  }
  SECTION("a count that was deleted") { story.drop(16, theirs, path); }
  SECTION("one that never ends") { adds(story, 15, 2, 9, 1); }
  CHECK(count(story) == 1);
}

TEST_CASE("I20: an attempt of unknown outcome may have written the next version, or none") {
  FollowStory story = counts_to_eight();
  adds(story, 14, 2, 9, 1);
  const bool is_killed = GENERATE(true, false);
  if (is_killed)
    story.evidence.users.clear();
  else
    added(story, 14, "connection_loss");
  CHECK(count(story) == 0);
  story.set(14, theirs, path, bytes(9));
  CHECK(count(story) == 0);
  story.set(15, theirs, path, bytes(9));
  CHECK(count(story) == 1);
}

TEST_CASE("I20: most compare-and-sets succeed") {
  FollowStory story = counts_to_eight();
  for (std::int64_t operation = 100; operation < 150; ++operation) {
    adds(story, operation, 1, 6, 1);
    added(story, operation, "no");
  }
  CHECK(count(story) == 1);
}
