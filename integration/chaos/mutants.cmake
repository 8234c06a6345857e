# Libraries with one thing wrong, to see that the campaign finds it. -DZKLOCK_MUTANT=I3 breaks what the judge's question
# I3 is about. Mutants with names of their own are wrong in a more subtle way, and any question may find them. The
# sources know nothing of this: a mutant is a copy of one of them with some words replaced; of a public header of the
# recipes, it is what the campaign includes.
#
# Faults of the campaign may be too rare for some mutants: they are found by tests on the fake ensemble.
#
# As a script it checks that the sources have the words of every mutant, and prints the mutants' names: those that the
# campaign finds, or with -DFOUND_BY=tests the others.

set(zklock_mutants_campaign)
set(zklock_mutants_tests)
set(zklock_found_by campaign)
get_filename_component(zklock_root "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

#   zklock_mutant(NAME FILE WORDS REPLACEMENT [WORDS REPLACEMENT]...)
function(zklock_mutant name file)
  set(zklock_mutants_${zklock_found_by} ${zklock_mutants_${zklock_found_by}} ${name} PARENT_SCOPE)
  file(READ "${zklock_root}/${file}" mutated)
  set(at 2)  # not ARGN: the words have semicolons
  while(at LESS ARGC)
    set(text "${mutated}")
    set(words "${ARGV${at}}")
    math(EXPR next "${at} + 1")
    string(REPLACE "${words}" "${ARGV${next}}" mutated "${text}")
    if(mutated STREQUAL text)
      message(FATAL_ERROR "the mutant ${name}: ${file} has not the words it replaces: ${words}")
    endif()
    math(EXPR at "${at} + 2")
  endwhile()
  if(NOT name STREQUAL ZKLOCK_MUTANT)
    return()
  endif()
  if(file MATCHES "^.*/include/(.*)")
    file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/mutant/${CMAKE_MATCH_1}" "${mutated}")
    target_include_directories(zklock_recipes BEFORE INTERFACE "$<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/mutant>")
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
zklock_mutant(I2 recipes/src/locks/lease/held_lock.cpp "if (loss_ == Loss::none) note(loss_of(session()));"
  "static_cast<void>(place_);")
# Granted by the first wake-up, or without any: the second contender in the queue goes ahead.
zklock_mutant(I3 recipes/src/wait_queue/queue_position.cpp "result.verdict = nearest ?"
  "result.verdict = nearest && ahead > 1 ?")
# No holder is told of a loss.
zklock_mutant(I4 recipes/src/locks/lease/lease_events.cpp "awaited == LeaseEvent::lost) co_return error_code{};"
  "awaited == LeaseEvent::lost) { co_await monitor->changed().wait_until(Clock::time_point::max()); continue; }")
# Readers and writers do not wait for one another.
zklock_mutant(I5 recipes/src/wait_queue/queue_position.cpp "!exclude_each_other(rank->kind, kind)"
  "(rank->kind == LockKind::read || kind == LockKind::read)")
# A wake-up that comes two seconds late.
zklock_mutant(I6 recipes/src/locks/mutex/wait_in_queue.cpp "if (ended) co_return ended;"
  "if (ended) co_return ended; Timer late{session.get_executor(), std::chrono::seconds{2}}; co_await late.async_wait(use_tuple);")
# A release that never ends, one in eight.
zklock_mutant(I7 recipes/src/locks/lease/lease.cpp "waiting->complete(outcome_of_release("
  "if (held_lock->fencing_token() % 8 != 0) waiting->complete(outcome_of_release(")
# A writer that gives up leaves its node in the wait queue. (If all waiters did so, the campaign would end.)
zklock_mutant(I8 recipes/src/wait_queue/queue_node.cpp "spawn_detached(session.get_executor(), remove(session, node.path, std::move(leaving)));"
  "{ if (node.path.find(\"__WRIT__\") == std::string::npos) spawn_detached(session.get_executor(), remove(session, node.path, std::move(leaving))); }")
# A waiter that gives up deletes its predecessor's node, too.
zklock_mutant(I9 recipes/src/locks/mutex/wait_in_queue.cpp "if (ended) co_return ended;"
  "if (ended) { remove_in_background(session, predecessor); co_return ended; }")
# A watch for something that never comes.
zklock_mutant(I10 recipes/src/locks/lease/held_lock.cpp "held_lock->renewal_.emplace(held_lock->session(), held_lock);"
  "held_lock->renewal_.emplace(held_lock->session(), held_lock); held_lock->session().async_exists_and_watch(held_lock->node().path + \"-ghost\", [](error_code, std::optional<Stat>, Watch watch) { static_cast<void>(new Watch{std::move(watch)}); });")
# The count of an owner that has re-entered is written as something else.
zklock_mutant(I11 recipes/src/locks/lease/held_lock.cpp "format_lock_data({self->lock_->client().client_id(), count})" "format_lock_data({\"nobody\", count})")
# A descriptor lost with each grant.
zklock_mutant(I12 recipes/src/locks/lease/held_lock.cpp "held_lock->renewal_.emplace(held_lock->session(), held_lock);"
  "held_lock->renewal_.emplace(held_lock->session(), held_lock); static_cast<void>(::dup(0));")
# A waiter asks again and again.
zklock_mutant(I13 recipes/src/locks/mutex/wait_in_queue.cpp "if (error == Error::no_node) co_return Predecessor::gone;"
  "if (error == Error::no_node) co_return Predecessor::gone; if (!error) co_return Predecessor::may_be_gone;")
# The process's mask for new files changes.
zklock_mutant(I14 recipes/src/locks/lease/held_lock.cpp "held_lock->renewal_.emplace(held_lock->session(), held_lock);"
  "held_lock->renewal_.emplace(held_lock->session(), held_lock); static_cast<void>(::umask(077));")
# The I/O thread sleeps.
zklock_mutant(I15 recipes/src/locks/lease/held_lock.cpp "held_lock->renewal_.emplace(held_lock->session(), held_lock);"
  "held_lock->renewal_.emplace(held_lock->session(), held_lock); if (held_lock->node().stat.czxid % 10 == 0) static_cast<void>(::usleep(120'000));")
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

# The last candidate is taken for the leader.
zklock_mutant(I21 recipes/src/leader/leader_watch.cpp "names.front()" "names.back()")

# ---- subtle ones

# The blocking lead_while resigns before its body runs.
zklock_mutant(early_resignation recipes/include/zklock/recipes/leader/lead_while.hpp
  "std::invoke(body, leadership, stop.get_token());\n    resign();" "resign();\n    std::invoke(body, leadership, stop.get_token());")
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
zklock_mutant(early_handoff recipes/src/locks/mutex/wait_in_queue.cpp "while (!ahead->has_left() && !ahead->is_deleted()) {"
  "while (!ahead->has_left() && !ahead->is_deleted() && !(ahead->was_granted() && std::stoi(ahead->path().substr(ahead->path().size() - 3)) % 8 == 0)) {")
# Kept locks: no event asks for the node.
zklock_mutant(deaf_keeper recipes/src/locks/lease/kept_lock_node.cpp "if (is_over()) return;
  kept_lock_.on_stranger();" "return;")
# Kept locks: at each event the queue is listed, which shows only nodes that begin as zklock's and Curator's do.
zklock_mutant(deaf_to_kazoo recipes/src/locks/lease/kept_lock_node.cpp
  "return queue.size() == 1 && queue.front().name == own;"
  "int seen = 0; for (const auto& each : queue) seen += each.name.starts_with(\"_c_\") ? 1 : 0; return seen == 1 && queue.front().name == own;"
  "on_event(is_another ? Cause::another_client : Cause::other);" "list();")
# Kept locks: a client lets a second one of its own in.
zklock_mutant(two_of_one_client recipes/src/locks/lease/kept_state.cpp
  "case KeptEvent::wanted: return {KeptState::held, KeptAction::wait};"
  "case KeptEvent::wanted: return {KeptState::held, KeptAction::grant};")
# Kept readers: the node goes when a writer comes, not when the last reader inside has left.
zklock_mutant(early_drain recipes/src/locks/lease/kept_reader_node.cpp
  "if (count_.ask()) remove(nullptr);" "if (count_.ask() || count_.holders() > 0) remove(nullptr);")
# Kept readers: a client goes on to let its readers in though a writer waits.
zklock_mutant(blind_reader recipes/src/locks/lease/kept_reader_node.cpp
  "if (!has_no_writer(children, lock()->naming())) return ask();" "static_cast<void>(&has_no_writer);")
# Kept semaphore mutexes: the permit goes when another client asks for it, not when its holder gives it back.
zklock_mutant(early_permit recipes/src/locks/lease/kept_lock_node.cpp
  "if (kept_lock_.ask(*this, cause)) remove(nullptr);"
  "if (kept_lock_.ask(*this, cause) || kind_ == LockKind::permit) remove(nullptr);")
# Session validity: a lease that counts itself as valid for a second too long.
zklock_mutant(long_trust zklock/src/driver/session_validity.cpp "sent + timeout - guard"
  "sent + timeout - guard + std::chrono::milliseconds{1000}")
# What a server answers by itself proves the session valid.
zklock_mutant(early_proof zklock/src/driver/session_validity.cpp "on_answered(ack.answered, now, timeout);"
  "prove(ack.answered, timeout);")
# Downgrade: a writer that goes on as a reader has a token of its own.
zklock_mutant(downgrade_token recipes/src/locks/lease/held_lock.cpp "if (granted.token) held_lock->token_ = *granted.token;" "")
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

# The two-request lock: a node's place is proven though a foreign node came between.
zklock_mutant(foreign_between recipes/src/wait_queue/local_queue.cpp "newest_->sequence_ != sequence - 1"
  "newest_->sequence_ >= sequence")

# ---- found by tests: what a directory that is deleted, or made anew, tells

set(zklock_found_by tests)
# Kept locks: each second client that comes while nobody holds the lock is not heard.
zklock_mutant(half_deaf_keeper recipes/src/locks/lease/kept_lock_node.cpp "kept_lock_.on_stranger();"
  "if (static int comings = 0; holders().empty() && ++comings % 2 == 0) return; kept_lock_.on_stranger();")
# Kept locks: a grant that its acquire cannot use is lost.
zklock_mutant(lost_grant recipes/src/locks/lease/kept_lock.cpp "if (node_) node_->take_back_unused(may_keep_);" "")
# Kept locks: one acquire more than may goes ahead of another client.
zklock_mutant(one_handoff_more recipes/src/locks/lease/kept_lock.cpp
  "handoffs_ >= max_handoffs) return false;" "handoffs_ > max_handoffs) return false;"
  "if (staying >= each->max_handoffs - handoffs_) break;" "if (staying > each->max_handoffs - handoffs_) break;")
# Kept locks: others go ahead of another client though the link was lost.
zklock_mutant(handoff_over_links recipes/src/locks/lease/kept_lock.cpp
  "if (cause != Cause::another_client) handoffs_ = no_more_handoffs;" "")
# Kept locks: an acquire that comes after another client waits without a node.
zklock_mutant(late_local_waiter recipes/src/locks/lease/kept_state.cpp
  "case KeptEvent::wanted: return {KeptState::asked, KeptAction::enqueue};"
  "case KeptEvent::wanted: return {KeptState::asked, KeptAction::wait};")
# Kept locks: a confirmed grant although another client has come.
zklock_mutant(deaf_confirmation recipes/src/locks/lease/kept_lock_node.cpp
  "co_return self->is_watched() && self->kept_lock_.is_wanted(*self);"
  "co_return true;")
# Kept readers: the last holder of a node that drains leaves it where it is.
zklock_mutant(left_reader recipes/src/locks/lease/kept_reader_node.cpp
  "return count_.leave();" "return count_.leave() && false;")
# Kept readers: each event leads to a list at once.
zklock_mutant(hasty_reader recipes/src/locks/lease/kept_reader_node.cpp "list_timer_.expires_at(may_list_at_);"
  "list_timer_.expires_at(Clock::now());")
# Kept locks: a lost link does not end the keeping.
zklock_mutant(linked_keeper recipes/src/locks/lease/watched_node.cpp "each->on_link(state);
  ask();" "each->on_link(state);")
# The directory's watch is trusted without being set.
zklock_mutant(unset_watch recipes/src/wait_queue/directory_watch.cpp
  "if (phase_ == Phase::none || !is_on(session) || Clock::now() >= requested_at_ + longest_trust) return false;" "return true;"
  "if (phase_ != Phase::set || !is_on(session) || connection != connection_ || !watch_.is_set()) return false;" "")
# It is set where the directory is missing.
zklock_mutant(watch_of_nothing recipes/src/wait_queue/directory_watch.cpp
  "async_get_data_and_watch" "async_exists_and_watch"
  "DataResult result, Watch watch" "std::optional<Stat> found, Watch watch"
  "result.stat" "found.value_or(Stat{})")
# It proves something on other connections.
zklock_mutant(other_connection recipes/src/wait_queue/directory_watch.cpp
  "|| !is_on(session) || connection != connection_ ||" "||"
  "return session_ == session && connection_ == session.connection();" "return session_ == session;")
# A node of an earlier directory is taken for one of this directory.
zklock_mutant(earlier_directory recipes/src/wait_queue/directory_watch.cpp "return czxid_ < czxid;" "return true;")
# The watch is trusted for ever, though servers may keep its event from the client.
zklock_mutant(long_watch recipes/src/wait_queue/directory_watch.cpp "longest_trust = 2min" "longest_trust = 24h")
# The deletion is passed over.
zklock_mutant(deaf_watch recipes/src/wait_queue/directory_watch.cpp "if (!ended) gone(ever);" "")
# New data are the last that is heard of the directory.
zklock_mutant(spent_watch recipes/src/wait_queue/directory_watch.cpp "return set(session_, directory_, gone);" "return drop();")
# The watches have no limit.
zklock_mutant(many_watches recipes/src/wait_queue/directory_watch.cpp "if (sum > max_bytes_) {" "if (sum == 0) {")
# Numbers that begin again tell nothing.
zklock_mutant(numbers_again recipes/src/wait_queue/local_queue.cpp "if (last_earlier > 0)" "if (last_earlier < 0)")
# A deleted predecessor is taken for one that has given the lock back.
zklock_mutant(deleted_is_left recipes/src/locks/mutex/wait_in_queue.cpp " || (ahead && ahead->is_deleted())" "")
# The reader of a downgrade is unknown to the other nodes of its client.
zklock_mutant(unknown_reader recipes/src/locks/mutex/read_beside.cpp
  "queue_node.join_local_queue(core.local_queue(), LockKind::read);" "")
# A try fails by an old list.
zklock_mutant(old_list recipes/src/locks/mutex/wait_in_queue.cpp
  "const auto children = co_await list_children_fresh(session, request.core->path());"
  "const auto children = co_await list_children(session, request.core->path());")

# The numbers of a directory's nodes tell of another directory where they come to their end.
zklock_mutant(last_numbers recipes/src/wait_queue/local_queue.cpp
  "if (made.sequence_ < 0) return;" ""
  "if (other.sequence_ > last_safe_sequence) break;" "")
# So does the number of a reader whose writer may be gone.
zklock_mutant(early_reader recipes/src/wait_queue/local_queue.cpp "&& has_own_number(other)" "")

# ---- found by tests: leaders, nodes that are kept, and what is followed

# A node with the tag of an attempt is taken for its own, whichever session made it.
zklock_mutant(no_owner zklock/src/session/session_ops.cpp "if (node.stat.ephemeral_owner == session.id()) co_return" "co_return")
# A node that was deleted while the link was away is not missed.
zklock_mutant(event_of_another_link recipes/src/nodes/keeper_steps.cpp
  "[weak = weak_from_this(), alarm](" "[weak = weak_from_this(), alarm, link = session_->connection()]("
  "alarm->rung = true;" "if (link != self->session_->connection()) return; alarm->rung = true;")
# A candidate whose turn it is leads though a higher one waits.
zklock_mutant(told_step_back recipes/src/locks/mutex/wait_in_queue.cpp
  "if (traits.steps_back && is_listed &&" "if (is_listed && false &&")
# A leader writes its latch's node: Curator's waiter behind it hears nothing more.
zklock_mutant(written_latch recipes/src/leader/candidate.cpp "co_return Leadership{std::move(*lease), std::move(candidate)};"
  "co_await candidate->core()->client().async_set_data(lease->node_path(), \"leading\", use_tuple); co_return Leadership{std::move(*lease), std::move(candidate)};")
# A read that fails with the link is not tried again.
zklock_mutant(dropped_read recipes/src/follow/follow_reads.cpp
  "if (dirty_.answered(read, DirtySet::Answer::failed).first && !is_missing_first) retry_later();"
  "static_cast<void>(dirty_.answered(read, is_missing_first ? DirtySet::Answer::failed : DirtySet::Answer::read));")
# The reply to an earlier read of an item gives up the watch that a later one has set.
zklock_mutant(late_reply recipes/src/follow/follow_reads.cpp
  "if (!goes_on || !self->needs_watch(read.item))" "if (!goes_on || !self->dirty_.is_clean(read.item))")
# The watch of an item that was dropped during its read stays.
zklock_mutant(left_watch recipes/src/follow/follow_reads.cpp "from.forget(read.item.kind, read.item.path);" "static_cast<void>(from);")
# A node is the same if its version is.
zklock_mutant(same_version recipes/src/follow/accept.cpp
  "if (before->czxid == now->czxid) return {};" "if (before->version == now->version) return {};")
# A group is live once all was read, whether it fits together or not.
zklock_mutant(torn_group recipes/src/nodes/group_view.cpp
  "const bool is_older = !is_caught_up_ && freshness_.state == Freshness::State::live;" "const bool is_older = true;")
# A version counts as skipped although it is shown later.
zklock_mutant(hidden_version recipes/src/caches/watch_merging.cpp "hidden_ = first.node->stat.mzxid;" "++second.skipped;")
# What was written before a node could be read for the first time never counts.
zklock_mutant(forgotten_absence recipes/src/caches/watching.cpp "if (was_unknown) change.skipped = 0;"
  "if (was_unknown || was_unreadable) change.skipped = 0;")
# A lost create still counts as ambiguous when its node has been found.
zklock_mutant(settled_doubt recipes/src/nodes/keeper_steps.cpp
  "if (flight.written == Error::node_exists && is_ours) doubt_.found();" "static_cast<void>(is_ours);"
  "doubt_.found();\n  is_there_ = true;" "is_there_ = true;")
# It does so for ever.
zklock_mutant(old_doubt recipes/src/nodes/keeper.cpp "Clock::now() + 2 * session.timeout();" "Clock::now() + 1000 * session.timeout();")
# The node of a lost create is looked for by the data of another one.
zklock_mutant(others_data recipes/src/nodes/node_name.cpp "read.data != data ||" "read.data != sent_ ||")
# New data wait because those before them were refused.
zklock_mutant(waiting_data recipes/src/nodes/keeper_steps.cpp "const auto has_new_data = [this] {"
  "const auto has_new_data = [this, first = wish().number] { if (wish().number == first) return false;")

# ---- found by tests: what is done exactly once

# What was given up has the mark of what was carried out.
zklock_mutant(unmarked_void recipes/src/ledger/commit_once.cpp "void_mark(slot_.version), slot_.version" "done_mark(slot_.version), slot_.version")
# The failure of a repeat is told while the first copy may still be carried out.
zklock_mutant(unsealed_failure recipes/src/ledger/commit_once.cpp "    failure_ = Committed{error, std::move(results)};\n    co_return Step{};"
  "    co_return Step{Committed{error, std::move(results)}};")
# Slots are swept that may still tell something.
zklock_mutant(early_sweep recipes/src/ledger/ledger.cpp "stat->modified < before" "stat->modified < before + slot_lifetime")
# Behind a slot that was swept the transaction is taken for not carried out.
zklock_mutant(swept_is_undone recipes/src/ledger/slot_record.cpp "return age < slot_lifetime ? AfterLoss::elsewhere : AfterLoss::unknown"
  "static_cast<void>(age); return AfterLoss::elsewhere")
# A counter's value is kept though nothing tells that the counter was deleted.
zklock_mutant(kept_value recipes/src/counters/distributed_atomic.cpp "known_ && known_->removal.is_set()" "known_ != nullptr")
# A block is handed out though the counter has begun again.
zklock_mutant(block_again recipes/src/counters/cached_atomic.cpp "added.before < last_end_" "added.after < added.before")

# ---- found by tests: worker ids

# A time stamp is used that is not reserved yet.
zklock_mutant(unreserved_time recipes/src/worker_ids/worker.cpp "now >= end_ || " "")
# The next owner begins without what the last one has reserved.
zklock_mutant(forgotten_end recipes/src/worker_ids/worker_steps.cpp "last.end = end;" "last.end = 0;")
# A release gives time stamps away that were used.
zklock_mutant(forgotten_use recipes/src/worker_ids/worker.cpp "used_ ? *used_ + ids_->tick() : from_" "from_")

if(CMAKE_SCRIPT_MODE_FILE)
  if(NOT FOUND_BY)
    set(FOUND_BY campaign)
  endif()
  string(REPLACE ";" "\n" names "${zklock_mutants_${FOUND_BY}}")
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${names}")
elseif(NOT ZKLOCK_MUTANT IN_LIST zklock_mutants_campaign AND NOT ZKLOCK_MUTANT IN_LIST zklock_mutants_tests)
  message(FATAL_ERROR "ZKLOCK_MUTANT is one of ${zklock_mutants_campaign};${zklock_mutants_tests}")
endif()
