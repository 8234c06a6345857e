# What zklock's own targets are compiled with. Nothing here reaches a user of the library.

add_library(zklock_warnings INTERFACE)
target_compile_options(zklock_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${ZKLOCK_WERROR}>:-Werror>)

add_library(zklock_sanitizers INTERFACE)
if(ZKLOCK_SANITIZE)
  # -fno-sanitize=function: clang's check misreads the resume pointers of coroutines.
  target_compile_options(zklock_sanitizers INTERFACE -fsanitize=${ZKLOCK_SANITIZE} -fno-omit-frame-pointer
    $<$<AND:$<CXX_COMPILER_ID:Clang>,$<STREQUAL:${ZKLOCK_SANITIZE},address$<COMMA>undefined>>:-fno-sanitize=function>)
  target_link_options(zklock_sanitizers INTERFACE -fsanitize=${ZKLOCK_SANITIZE})
endif()

# Applies the house's flags to a target of ours. Usage: zklock_house_rules(TARGET)
function(zklock_house_rules target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:zklock_warnings> $<BUILD_INTERFACE:zklock_sanitizers>)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()
