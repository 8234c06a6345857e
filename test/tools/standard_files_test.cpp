// The program's standard descriptors.
#include "standard_files.hpp"

#include "support/catch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace zklock::tools;

TEST_CASE("a program that is started without standard descriptors gets /dev/null for those that are missing") {
  const int closed = GENERATE(range(0, 8));  // a bit for each
  const pid_t child = ::fork();
  if (child == 0) {
    struct stat null {};
    ::stat("/dev/null", &null);
    const int zeros = ::open("/dev/zero", O_RDWR);
    for (int file = 0; file < 3; ++file) (closed >> file & 1) != 0 ? ::close(file) : ::dup2(zeros, file);
    open_standard_files();
    bool is_right = true;
    for (int file = 0; file < 3; ++file) {
      struct stat found {};
      const bool is_open = ::fstat(file, &found) == 0;
      is_right = is_right && is_open && (found.st_rdev == null.st_rdev) == ((closed >> file & 1) != 0);
    }
    ::_exit(is_right ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CAPTURE(closed);
  CHECK(status == 0);
}
