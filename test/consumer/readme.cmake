# Takes the examples out of README.md, so that the tested code is what it shows.

# Writes the first fenced block of README.md in `language` to `file`.
function(extract_from_readme language file)
  file(READ "${SOURCE_DIR}/README.md" text)
  set(fence "\n```")
  string(FIND "${text}" "${fence}${language}\n" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "README.md shows no block of ${language}")
  endif()
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "\n" first_line_end)  # the newline before the fence
  math(EXPR after_it "${first_line_end} + 1")
  string(SUBSTRING "${text}" ${after_it} -1 text)
  string(FIND "${text}" "\n" fence_end)
  string(SUBSTRING "${text}" ${fence_end} -1 text)
  string(FIND "${text}" "${fence}" end)
  if(end LESS 1)
    message(FATAL_ERROR "README.md does not close its block of ${language}")
  endif()
  string(SUBSTRING "${text}" 1 ${end} text)
  file(WRITE "${file}" "${text}")
endfunction()
