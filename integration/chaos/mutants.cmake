# Libraries with one thing wrong, to see that the campaign finds it: -DZKLOCK_MUTANT=I3 breaks what the judge's question
# I3 is about; those with names of their own are wrong in a more subtle way, and any question may find them. The sources
# know nothing of this; a mutant is a copy of one of them with some words replaced.
#
# As a script it checks that the sources have the words of every mutant, and prints the mutants' names.

set(zklock_mutants)
get_filename_component(zklock_root "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

#   zklock_mutant(NAME FILE WORDS REPLACEMENT)
function(zklock_mutant name file words replacement)
  set(zklock_mutants ${zklock_mutants} ${name} PARENT_SCOPE)
  file(READ "${zklock_root}/${file}" text)
  string(REPLACE "${words}" "${replacement}" mutated "${text}")
  if(mutated STREQUAL text)
    message(FATAL_ERROR "the mutant ${name}: ${file} has not the words it replaces: ${words}")
  endif()
  if(NOT name STREQUAL ZKLOCK_MUTANT)
    return()
  endif()
  get_filename_component(source "${file}" NAME)
  get_filename_component(directory "${file}" DIRECTORY)
  set(target zklock)
  if(file MATCHES "^recipes/")
    set(target zklock_recipes)
  endif()
  set(copy "${CMAKE_CURRENT_BINARY_DIR}/mutant/${source}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${zklock_root}/${file}")
  file(WRITE "${copy}" "${mutated}")
  get_target_property(sources ${target} SOURCES)
  list(TRANSFORM sources REPLACE "^(.*/)?src/${source}$" "${copy}")
  set_target_properties(${target} PROPERTIES SOURCES "${sources}")
  target_include_directories(${target} PRIVATE "${zklock_root}/${directory}")
  set_source_files_properties("${copy}" TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS -Wno-error)
endfunction()

# ---- one for each question

# Tokens that are no transactions.
zklock_mutant(I1 recipes/src/lease.cpp "hold_->holding().fencing_token() : 0" "hold_->holding().fencing_token() / 2 : 0")
# A lease that believes in itself when its time is up: its user stays, and is not told.
zklock_mutant(I2 recipes/src/holding.cpp "if (!lost_ && (is_final(session_.state()) || Clock::now() >= session_.valid_until())) lost_ = true;"
  "static_cast<void>(session_);")
# Granted by the first wake-up, or without any: whoever is second in line goes ahead.
zklock_mutant(I3 recipes/src/contention.cpp "if (!nearest) return" "if (!nearest || ahead == 1) return")
# Nobody is told of a loss.
zklock_mutant(I4 recipes/src/lease_news.cpp "news == LeaseNews::lost) co_return Done{};"
  "news == LeaseNews::lost) { lookout->gate().expires_at(Clock::time_point::max()); co_await lookout->gate().async_wait(use_tuple); continue; }")
# Readers and writers pay no heed to one another.
zklock_mutant(I5 recipes/src/contention.cpp "bool keeps_out(LockKind ahead, LockKind behind) { return ahead != LockKind::read || behind != LockKind::read; }"
  "bool keeps_out(LockKind ahead, LockKind behind) { return ahead != LockKind::read && behind != LockKind::read; }")
# A wake-up that comes two seconds late.
zklock_mutant(I6 recipes/src/contender.cpp "if (ended) co_return ended;"
  "if (ended) co_return ended; Timer late{session.get_executor(), std::chrono::seconds{2}}; co_await late.async_wait(use_tuple);")
# A try that fails is never told so.
zklock_mutant(I7 recipes/src/contender.cpp "contention.predecessor))\n        co_return make_error_code(Error::timed_out);"
  "contention.predecessor)) { Timer never{session.get_executor(), Clock::time_point::max()}; co_await never.async_wait(use_tuple); co_return make_error_code(Error::timed_out); }")
# A writer that leaves the line leaves its node in it. (Of all who leave it would be the end of the campaign.)
zklock_mutant(I8 recipes/src/place_in_line.cpp "spawn_detached(session.get_executor(), remove(session, node.path, std::move(leaving)));"
  "{ if (node.path.find(\"__WRIT__\") == std::string::npos) spawn_detached(session.get_executor(), remove(session, node.path, std::move(leaving))); }")
# Whoever gives up deletes the one ahead, too.
zklock_mutant(I9 recipes/src/contender.cpp "if (ended) co_return ended;"
  "if (ended) { remove_in_background(session, predecessor); co_return ended; }")
# A watch for something that never comes.
zklock_mutant(I10 recipes/src/holding.cpp "void Holding::stand_as(std::shared_ptr<Sibling> sibling) {"
  "void Holding::stand_as(std::shared_ptr<Sibling> sibling) { session_.async_exists_and_watch(node_.path + \"-ghost\", [](error_code, std::optional<Stat>, Watch watch) { static_cast<void>(new Watch{std::move(watch)}); });")
# The count of one who has entered again is written as something else.
zklock_mutant(I11 recipes/src/holding.cpp "format_lock_data({self->lock_->client().client_id(), count})" "format_lock_data({\"nobody\", count})")
# A descriptor lost with each grant.
zklock_mutant(I12 recipes/src/holding.cpp "void Holding::stand_as(std::shared_ptr<Sibling> sibling) {"
  "void Holding::stand_as(std::shared_ptr<Sibling> sibling) { static_cast<void>(::dup(0));")
# Whoever waits asks again and again.
zklock_mutant(I13 recipes/src/contender.cpp "if (error == Error::no_node) co_return WokenUp::for_certain;"
  "if (error == Error::no_node) co_return WokenUp::for_certain; if (!error) co_return WokenUp::by_a_hint;")
# The process's mask for new files changes.
zklock_mutant(I14 recipes/src/holding.cpp "void Holding::stand_as(std::shared_ptr<Sibling> sibling) {"
  "void Holding::stand_as(std::shared_ptr<Sibling> sibling) { static_cast<void>(::umask(077));")
# The I/O thread sleeps.
zklock_mutant(I15 recipes/src/holding.cpp "void Holding::stand_as(std::shared_ptr<Sibling> sibling) {"
  "void Holding::stand_as(std::shared_ptr<Sibling> sibling) { if (node_.stat.czxid % 10 == 0) static_cast<void>(::usleep(120'000));")

# ---- subtle ones

# Wake-up: readers and writers are never woken by other processes.
zklock_mutant(lost_wake_up recipes/src/contender.cpp "const auto [ended, event] = co_await watch.async_wait(use_tuple);"
  "if (predecessor.find(\"__\") != std::string::npos) { Timer never{session.get_executor(), Clock::time_point::max()}; co_await never.async_wait(use_tuple); co_return make_error_code(asio::error::operation_aborted); } const auto [ended, event] = co_await watch.async_wait(use_tuple);")
# One in eight goes without waking the one of its own process that waits for it.
zklock_mutant(lost_sibling recipes/src/siblings.cpp "if (waiters_.empty()) return;"
  "if (waiters_.empty() || sequence_ % 8 == 0) return;")
# One writer in eight goes ahead beside readers.
zklock_mutant(overlap recipes/src/contention.cpp "++ahead;"
  "if (kind == LockKind::write && rank->kind == LockKind::read && own->sequence % 8 == 0) continue; ++ahead;")
# Handoff: one in eight hands its lock on to the next of its process when it gets it, not when it gives it back.
zklock_mutant(early_hand_over recipes/src/siblings.cpp "while (!self->is_gone() && !self->vanished_) {"
  "while (!self->is_gone() && !self->vanished_ && !(self->granted_ && self->sequence_ % 8 == 0)) {")
# Proof of life: a lease that trusts itself for 400 ms too long.
zklock_mutant(long_trust zklock/src/proof_of_life.cpp "sent + timeout - guard"
  "sent + timeout - guard + std::chrono::milliseconds{400}")
# What a server answers by itself proves that the session lives.
zklock_mutant(early_proof zklock/src/proof_of_life.cpp "on_answered(contact.answered, now, timeout);"
  "prove(contact.answered, timeout);")
# Downgrade: a writer who goes on as a reader has a token of its own.
zklock_mutant(downgrade_token recipes/src/contender.cpp "if (writer) holding->stand_beside(*writer);" "")
# Permits: whoever takes several takes one more than there is.
zklock_mutant(one_permit_more recipes/src/admission.cpp "std::cmp_less_equal(children.size(), permits)"
  "std::cmp_less_equal(children.size(), own.size() > 1 ? permits + 1 : permits)")
# Nobody hears of a permit that is given back.
zklock_mutant(lost_permit recipes/src/room_watch.cpp "follow(watch, Whose::leases);" "")
# Multi-lock: an attempt that gives up keeps the first lock if it waits for the second.
zklock_mutant(kept_part recipes/src/inter_process_multi_lock.cpp "const bool in_a_hurry = "
  "if (holds->state() == LeaseState::held) static_cast<void>(new Holds{holds}); const bool in_a_hurry = ")
# Cleanup after a lost reply: none.
zklock_mutant(lost_reply recipes/src/place_in_line.cpp "phase == Phase::failed && outcome_of(error) == Outcome::ambiguous"
  "phase == Phase::idle && left && outcome_of(error) == Outcome::ambiguous")

if(CMAKE_SCRIPT_MODE_FILE)
  string(REPLACE ";" "\n" names "${zklock_mutants}")
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${names}")
elseif(NOT ZKLOCK_MUTANT IN_LIST zklock_mutants)
  message(FATAL_ERROR "ZKLOCK_MUTANT is one of ${zklock_mutants}")
endif()
