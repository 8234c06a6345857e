# Writes OUTPUT, the C++ source that page_text.hpp declares, from the files HTML and POLICY.
file(READ "${HTML}" html)
file(READ "${POLICY}" policy)
string(STRIP "${policy}" policy)
file(WRITE "${OUTPUT}" "// Made by embed.cmake.
#include \"page_text.hpp\"

namespace zklock::tools {

const std::string_view page_html = R\"zklock~(${html})zklock~\";
const std::string_view page_policy = R\"zklock~(${policy})zklock~\";

}  // namespace zklock::tools
")
