// What `zklock top` prints where there is no screen.
#include "top_report.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace zklock;
using namespace zklock::tools;
using namespace std::chrono_literals;

namespace {

const WallTime start{1'800'000'000s};
const std::string first = "a-lock-0000000001";
const std::string second = "b-lock-0000000002";

struct Fixture {
  void list(const std::vector<std::string>& names) { board.listed("/locks/a", names, start); }
  void read(const std::string& name, const std::string& client, std::chrono::seconds age) {
    DataResult node;
    node.data = client + ":1";
    node.stat.ephemeral_owner = 0x10;
    node.stat.czxid = 7;
    node.stat.created = start - age;
    board.node_read("/locks/a/" + name, node, start);
  }
  [[nodiscard]] std::string changes() { return report.changes(view); }

  LockBoard board;
  TopView view{.board = board, .now = start, .connected = true, .contact = start};
  ChangeReport report{"/locks"};
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a line of JSON is printed for each change, once the first nodes were read") {
  list({first});
  CHECK(changes().empty());
  read(first, "me", 3s);
  CHECK(changes() ==
        R"({"path":"/locks/a","kind":"mutex","holders":1,"waiting":0,"holder":"me","asked":false,"held_ms":3000,)"
        R"("wait_ms":null,"time_ms":1800000000000})"
        "\n");
  CHECK(changes().empty());
  list({first, second});
  read(second, "you", 1s);
  CHECK(changes().find(R"("waiting":1,"holder":"me","asked":false,"held_ms":3000,"wait_ms":1000)") !=
        std::string::npos);
  list({second});
  CHECK(changes().find(R"("waiting":0,"holder":"you")") != std::string::npos);
  board.gone("/locks/a", start);
  CHECK(changes() == "{\"path\":\"/locks/a\",\"gone\":true,\"time_ms\":1800000000000}\n");
}

TEST_CASE_METHOD(Fixture, "a lock whose nodes cannot be read is told of after two seconds") {
  list({first});
  CHECK(changes().empty());
  view.now = start + 2s;
  CHECK(changes().find(R"("holders":1,"waiting":0,"holder":"?","asked":false,"held_ms":null)") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "the loss of ZooKeeper and of the base are changes, and so is their return") {
  view.connected = false;
  CHECK(changes() == "{\"connected\":false,\"contact_ms\":1800000000000,\"time_ms\":1800000000000}\n");
  CHECK(changes().empty());
  view.connected = true;
  CHECK(changes().starts_with("{\"connected\":true,"));
  view.missing = true;
  CHECK(changes() == "{\"base\":\"/locks\",\"exists\":false,\"time_ms\":1800000000000}\n");
  view.missing = false;
  CHECK(changes().starts_with("{\"base\":\"/locks\",\"exists\":true,"));
}

TEST_CASE_METHOD(Fixture, "the table and the lines of JSON have every lock, the longest wait first, names escaped") {
  list({first, second});
  read(first, "m\xE2\x80\xAE", 130s);
  read(second, "you", 70s);
  board.listed("/locks/b", {first}, start);
  CHECK(to_table(board, start) ==
        "LOCK      KIND   HOLDERS  WAITING  HELD   LONGEST  HOLDER\n"
        "/locks/a  mutex  1        1        2m10s  1m10s    m\\u{202E}\n"
        "/locks/b  mutex  1        0        -      -        ?\n");
  const std::string lines = to_json_lines(board, start);
  CHECK(lines.starts_with(R"({"path":"/locks/a",)"));
  CHECK(lines.find(R"("holder":"m\u202e")") != std::string::npos);
  CHECK(lines.find(R"({"path":"/locks/b",)") != std::string::npos);
}
