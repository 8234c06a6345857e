# Libraries with one thing wrong, to see that the campaign finds it. -DZKLOCK_MUTANT=I3 breaks what the judge's question
# I3 is about. Mutants with names of their own are wrong in a more subtle way, and any question may find them. The
# sources know nothing of this: a mutant is a copy of one of them with some words replaced.
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
  string(REGEX REPLACE "^zklock/src/" "zklock_core_" target "${directory}")
  string(REGEX REPLACE "^recipes/src/" "zklock_recipes_" target "${target}")
  string(REPLACE "/" "_" target "${target}")
  set(copy "${CMAKE_CURRENT_BINARY_DIR}/mutant/${source}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${zklock_root}/${file}")
  file(WRITE "${copy}" "${mutated}")
  get_target_property(sources ${target} SOURCES)
  list(TRANSFORM sources REPLACE "^(.*/)?${source}$" "${copy}")
  set_target_properties(${target} PROPERTIES SOURCES "${sources}")
  target_include_directories(${target} PRIVATE "${zklock_root}/${directory}")
  set_source_files_properties("${copy}" TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS -Wno-error)
endfunction()

# ---- one for each question

# Tokens that are no transactions.
zklock_mutant(I1 recipes/src/locks/lease/lease.cpp "share_->held_lock().fencing_token() : 0" "share_->held_lock().fencing_token() / 2 : 0")
# A lease that believes itself valid when it has timed out: its user stays, and is not told.
zklock_mutant(I2 recipes/src/locks/lease/held_lock.cpp "if (!lost_ && (is_final(session_.state()) || Clock::now() >= session_.valid_until())) lost_ = true;"
  "static_cast<void>(session_);")
# Granted by the first wake-up, or without any: the second contender in the queue goes ahead.
zklock_mutant(I3 recipes/src/wait_queue/queue_position.cpp "result.verdict = nearest ?"
  "result.verdict = nearest && ahead > 1 ?")
# No holder is told of a loss.
zklock_mutant(I4 recipes/src/locks/lease/lease_events.cpp "awaited == LeaseEvent::lost) co_return Done{};"
  "awaited == LeaseEvent::lost) { co_await monitor->changed().wait_until(Clock::time_point::max()); continue; }")
# Readers and writers do not wait for one another.
zklock_mutant(I5 recipes/src/wait_queue/queue_position.cpp "bool blocks(LockKind ahead, LockKind behind) { return ahead != LockKind::read || behind != LockKind::read; }"
  "bool blocks(LockKind ahead, LockKind behind) { return ahead != LockKind::read && behind != LockKind::read; }")
# A wake-up that comes two seconds late.
zklock_mutant(I6 recipes/src/locks/mutex/wait_in_queue.cpp "if (ended) co_return ended;"
  "if (ended) co_return ended; Timer late{session.get_executor(), std::chrono::seconds{2}}; co_await late.async_wait(use_tuple);")
# A release that never ends, one in eight.
zklock_mutant(I7 recipes/src/locks/lease/lease.cpp "error = co_await HeldLock::remove_guaranteed(held_lock);"
  "{ error = co_await HeldLock::remove_guaranteed(held_lock); if (held_lock->fencing_token() % 8 == 0) { Timer never{held_lock->session().get_executor(), Clock::time_point::max()}; co_await never.async_wait(use_tuple); } }")
# A writer that gives up leaves its node in the wait queue. (If all waiters did so, the campaign would end.)
zklock_mutant(I8 recipes/src/wait_queue/queue_node.cpp "spawn_detached(session.get_executor(), remove(session, node.path, std::move(leaving)));"
  "{ if (node.path.find(\"__WRIT__\") == std::string::npos) spawn_detached(session.get_executor(), remove(session, node.path, std::move(leaving))); }")
# A waiter that gives up deletes its predecessor's node, too.
zklock_mutant(I9 recipes/src/locks/mutex/wait_in_queue.cpp "if (ended) co_return ended;"
  "if (ended) { remove_in_background(session, predecessor); co_return ended; }")
# A watch for something that never comes.
zklock_mutant(I10 recipes/src/locks/lease/held_lock.cpp "void HeldLock::set_local_waiter(std::shared_ptr<LocalWaiter> local_waiter) {"
  "void HeldLock::set_local_waiter(std::shared_ptr<LocalWaiter> local_waiter) { session_.async_exists_and_watch(node_.path + \"-ghost\", [](error_code, std::optional<Stat>, Watch watch) { static_cast<void>(new Watch{std::move(watch)}); });")
# The count of an owner that has re-entered is written as something else.
zklock_mutant(I11 recipes/src/locks/lease/held_lock.cpp "format_lock_data({self->lock_->client().client_id(), count})" "format_lock_data({\"nobody\", count})")
# A descriptor lost with each grant.
zklock_mutant(I12 recipes/src/locks/lease/held_lock.cpp "void HeldLock::set_local_waiter(std::shared_ptr<LocalWaiter> local_waiter) {"
  "void HeldLock::set_local_waiter(std::shared_ptr<LocalWaiter> local_waiter) { static_cast<void>(::dup(0));")
# A waiter asks again and again.
zklock_mutant(I13 recipes/src/locks/mutex/wait_in_queue.cpp "if (error == Error::no_node) co_return Wakeup::confirmed;"
  "if (error == Error::no_node) co_return Wakeup::confirmed; if (!error) co_return Wakeup::hint;")
# The process's mask for new files changes.
zklock_mutant(I14 recipes/src/locks/lease/held_lock.cpp "void HeldLock::set_local_waiter(std::shared_ptr<LocalWaiter> local_waiter) {"
  "void HeldLock::set_local_waiter(std::shared_ptr<LocalWaiter> local_waiter) { static_cast<void>(::umask(077));")
# The I/O thread sleeps.
zklock_mutant(I15 recipes/src/locks/lease/held_lock.cpp "void HeldLock::set_local_waiter(std::shared_ptr<LocalWaiter> local_waiter) {"
  "void HeldLock::set_local_waiter(std::shared_ptr<LocalWaiter> local_waiter) { if (node_.stat.czxid % 10 == 0) static_cast<void>(::usleep(120'000));")
# Not told: one end of a grant in eight.
zklock_mutant(I17 recipes/src/locks/lease/held_lock.cpp "LockEvent end = event("
  "if (attempt_ % 8 == 0) return; LockEvent end = event(")
# Whatever is at the path of a node that is kept is taken for the own one.
zklock_mutant(I18 recipes/src/nodes/keep_step.cpp "if (ephemeral_owner == this_session) return NodeOwner::this_session;"
  "return NodeOwner::this_session;")
# A new session reads nothing again of what is followed.
zklock_mutant(I19 recipes/src/follow/follow.cpp "dirty_.mark_all();" "")
# A compare-and-set is repeated with the version that was in its way.
zklock_mutant(I20 recipes/src/shared/shared_value.cpp "if (unread) co_return unread;"
  "if (unread) co_return unread; const SetDataOptions again{read.stat.version}; auto [repeated, written] = co_await shared->client().async_set_data(shared->path(), data, again, use_tuple); if (!repeated) co_return RawExchange{true, false, DataResult{data, written}};")

# ---- subtle ones

# Wake-up: readers and writers are never woken by other processes.
zklock_mutant(lost_wake_up recipes/src/locks/mutex/wait_in_queue.cpp "const auto [ended, event] = co_await watch.async_wait(use_tuple);"
  "if (predecessor.find(\"__\") != std::string::npos) { Timer never{session.get_executor(), Clock::time_point::max()}; co_await never.async_wait(use_tuple); co_return make_error_code(asio::error::operation_aborted); } const auto [ended, event] = co_await watch.async_wait(use_tuple);")
# One node in eight goes without waking the local waiter behind it.
zklock_mutant(lost_local_waiter recipes/src/wait_queue/local_waiter.cpp "if (waiters_.empty()) return;"
  "if (waiters_.empty() || sequence_ % 8 == 0) return;")
# One writer in eight goes ahead beside readers.
zklock_mutant(overlap recipes/src/wait_queue/queue_position.cpp "++ahead;"
  "if (kind == LockKind::write && rank->kind == LockKind::read && own->sequence % 8 == 0) continue; ++ahead;")
# One candidate of a latch in eight leads beside the leader.
zklock_mutant(two_leaders recipes/src/wait_queue/queue_position.cpp "++ahead;"
  "if (kind == LockKind::latch && own->sequence % 8 == 0) continue; ++ahead;")
# Handoff: one node in eight hands its lock off to the next local waiter when it gets the lock, not when it releases it.
zklock_mutant(early_handoff recipes/src/wait_queue/local_waiter.cpp "while (!self->has_left() && self->presence_ != Presence::deleted) {"
  "while (!self->has_left() && self->presence_ != Presence::deleted && !(self->was_granted() && self->sequence_ % 8 == 0)) {")
# Session validity: a lease that counts itself as valid for a second too long.
zklock_mutant(long_trust zklock/src/driver/session_validity.cpp "sent + timeout - guard"
  "sent + timeout - guard + std::chrono::milliseconds{1000}")
# What a server answers by itself proves the session valid.
zklock_mutant(early_proof zklock/src/driver/session_validity.cpp "on_answered(ack.answered, now, timeout);"
  "prove(ack.answered, timeout);")
# Downgrade: a writer that goes on as a reader has a token of its own.
zklock_mutant(downgrade_token recipes/src/locks/mutex/acquire.cpp "if (writer) held_lock->take_token_of(*writer);" "")
# Permits: a client that takes several takes one more than there is.
zklock_mutant(one_permit_more recipes/src/locks/semaphore/admission.cpp "std::cmp_less_equal(children.size(), permits)"
  "std::cmp_less_equal(children.size(), own.size() > 1 ? permits + 1 : permits)")
# No waiter hears of a released permit.
zklock_mutant(lost_permit recipes/src/locks/semaphore/room_watch.cpp "follow(watch, Whose::leases);" "")
# Multi-lock: an attempt that gives up keeps the first lock if it waits for the second.
zklock_mutant(kept_part recipes/src/locks/multi_lock/inter_process_multi_lock.cpp "const bool in_a_hurry = "
  "if (holds->state() == LeaseState::held) static_cast<void>(new Holds{holds}); const bool in_a_hurry = ")
# A node whose reply was lost is not looked for; another one is made.
zklock_mutant(lost_reply recipes/src/wait_queue/queue_node.cpp "auto found = co_await find_own_node(state_->session, state_->path);"
  "Result<CreateResult> found{CreateResult{}};")
# What is followed is called up to date as soon as there is a link.
zklock_mutant(early_live recipes/src/follow/follow.cpp "first_sync_ = sent_sync_ + 1;"
  "first_sync_ = answered_sync_; settle();")

if(CMAKE_SCRIPT_MODE_FILE)
  string(REPLACE ";" "\n" names "${zklock_mutants}")
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${names}")
elseif(NOT ZKLOCK_MUTANT IN_LIST zklock_mutants)
  message(FATAL_ERROR "ZKLOCK_MUTANT is one of ${zklock_mutants}")
endif()
