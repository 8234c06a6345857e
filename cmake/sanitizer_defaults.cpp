// The options of the sanitizers, compiled into every executable that is built here, so that it needs no environment:
// under ctest, by hand, or as the child of another program. The environment (ASAN_OPTIONS, ...) still overrides them.
// Compiled only when ZKLOCK_SANITIZE is set. The names of the functions are the sanitizers' own.

#define ZKLOCK_SANITIZER_HOOK extern "C" __attribute__((used, visibility("default"))) const char*

ZKLOCK_SANITIZER_HOOK __asan_default_options() {
  return "detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1";
}

ZKLOCK_SANITIZER_HOOK __ubsan_default_options() { return "print_stacktrace=1"; }

ZKLOCK_SANITIZER_HOOK __tsan_default_options() { return "second_deadlock_stack=1:allocator_may_return_null=1"; }

// Asio counts the references to a large executor with a fence, which ThreadSanitizer does not know; those to an
// exception are counted inside the standard library, which was not compiled with it. The C client's log has one buffer
// for all threads, and threads that close handles are not made to wait for each other (docs/driver.md).
ZKLOCK_SANITIZER_HOOK __tsan_default_suppressions() {
  return "race:boost::asio::execution::detail::shared_target_executor\n"
         "race:std::__exception_ptr::exception_ptr::_M_release\n"
         "race:log_message\n";
}

// The C client 3.8.0 leaks the buffer of a packet if the connection breaks in the middle of it: 24 bytes and what had
// been read of it (docs/driver.md).
ZKLOCK_SANITIZER_HOOK __lsan_default_suppressions() { return "leak:libzookeeper_st\n"; }
