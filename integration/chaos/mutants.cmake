# A library with one thing wrong, to see that the campaign finds it: -DZKLOCK_MUTANT=I3 breaks what the judge's invariant
# I3 is about. The sources know nothing of this; a mutant is a copy of one of them with some words replaced.
#
#   zklock_mutant(NAME FILE WORDS REPLACEMENT)
set(zklock_mutants)
function(zklock_mutant name file words replacement)
  set(zklock_mutants ${zklock_mutants} ${name} PARENT_SCOPE)
  if(NOT name STREQUAL ZKLOCK_MUTANT)
    return()
  endif()
  set(original "${PROJECT_SOURCE_DIR}/recipes/src/${file}")
  set(copy "${CMAKE_CURRENT_BINARY_DIR}/mutant/${file}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${original}")
  file(READ "${original}" text)
  string(REPLACE "${words}" "${replacement}" mutated "${text}")
  if(mutated STREQUAL text)
    message(FATAL_ERROR "the mutant ${name}: ${file} has not the words it replaces")
  endif()
  file(WRITE "${copy}" "${mutated}")
  get_target_property(sources zklock_recipes SOURCES)
  list(TRANSFORM sources REPLACE "^(.*/)?src/${file}$" "${copy}")
  set_target_properties(zklock_recipes PROPERTIES SOURCES "${sources}")
  target_include_directories(zklock_recipes PRIVATE "${PROJECT_SOURCE_DIR}/recipes/src")
  set_source_files_properties("${copy}" PROPERTIES COMPILE_OPTIONS -Wno-error)
endfunction()

# Tokens that are no transactions.
zklock_mutant(I1 lease.cpp "hold_->holding().fencing_token() : 0" "hold_->holding().fencing_token() / 2 : 0")
# A lease that believes in itself when its time is up: its user stays, and is not told.
zklock_mutant(I2 holding.cpp "if (!lost_ && (is_final(session_.state()) || Clock::now() >= session_.valid_until())) lost_ = true;"
  "static_cast<void>(session_);")
# Granted by the first wake-up, or without any: whoever is second in line goes ahead.
zklock_mutant(I3 contention.cpp "if (!nearest) return" "if (!nearest || ahead == 1) return")
# Nobody is told of a loss.
zklock_mutant(I4 lease_news.cpp "news == LeaseNews::lost) co_return Done{};"
  "news == LeaseNews::lost) { lookout->gate().expires_at(Clock::time_point::max()); co_await lookout->gate().async_wait(use_tuple); continue; }")
# Readers and writers pay no heed to one another.
zklock_mutant(I5 contention.cpp "bool keeps_out(LockKind ahead, LockKind behind) { return ahead != LockKind::read || behind != LockKind::read; }"
  "bool keeps_out(LockKind ahead, LockKind behind) { return ahead != LockKind::read && behind != LockKind::read; }")
# A wake-up that comes two seconds late.
zklock_mutant(I6 contender.cpp "if (ended) co_return ended;"
  "if (ended) co_return ended; Timer late{session.get_executor(), std::chrono::seconds{2}}; co_await late.async_wait(use_tuple);")
# A try that fails is never told so.
zklock_mutant(I7 contender.cpp "if (request.try_once) co_return make_error_code(Error::timed_out);"
  "if (request.try_once) { Timer never{session.get_executor(), Clock::time_point::max()}; co_await never.async_wait(use_tuple); co_return make_error_code(Error::timed_out); }")
# A writer that leaves the line leaves its node in it. (Of all who leave it would be the end of the campaign.)
zklock_mutant(I8 place_in_line.cpp "spawn_detached(session.get_executor(), remove(session, node.path, std::move(leaving)));"
  "{ if (node.path.find(\"__WRIT__\") == std::string::npos) spawn_detached(session.get_executor(), remove(session, node.path, std::move(leaving))); }")
# Whoever gives up deletes the one ahead, too.
zklock_mutant(I9 contender.cpp "if (ended) co_return ended;"
  "if (ended) { remove_in_background(session, predecessor); co_return ended; }")
# A watch for something that never comes.
zklock_mutant(I10 holding.cpp "void Holding::stand_as(std::shared_ptr<Sibling> sibling) {"
  "void Holding::stand_as(std::shared_ptr<Sibling> sibling) { session_.async_exists_and_watch(node_.path + \"-ghost\", [](error_code, std::optional<Stat>, Watch watch) { static_cast<void>(new Watch{std::move(watch)}); });")
# The count of one who has entered again is written as something else.
zklock_mutant(I11 holding.cpp "format_lock_data({self->client_id_, count})" "format_lock_data({\"nobody\", count})")
# A descriptor lost with each grant.
zklock_mutant(I12 holding.cpp "void Holding::stand_as(std::shared_ptr<Sibling> sibling) {"
  "void Holding::stand_as(std::shared_ptr<Sibling> sibling) { static_cast<void>(::dup(0));")
# Whoever waits asks again and again.
zklock_mutant(I13 contender.cpp "if (error == Error::no_node) co_return WokenUp::for_certain;"
  "if (error == Error::no_node) co_return WokenUp::for_certain; if (!error) co_return WokenUp::by_a_hint;")
# The process's mask for new files changes.
zklock_mutant(I14 holding.cpp "void Holding::stand_as(std::shared_ptr<Sibling> sibling) {"
  "void Holding::stand_as(std::shared_ptr<Sibling> sibling) { static_cast<void>(::umask(077));")
# The I/O thread sleeps.
zklock_mutant(I15 holding.cpp "void Holding::stand_as(std::shared_ptr<Sibling> sibling) {"
  "void Holding::stand_as(std::shared_ptr<Sibling> sibling) { if (node_.stat.czxid % 10 == 0) static_cast<void>(::usleep(120'000));")

if(NOT ZKLOCK_MUTANT IN_LIST zklock_mutants)
  message(FATAL_ERROR "ZKLOCK_MUTANT is one of ${zklock_mutants}")
endif()
