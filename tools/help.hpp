// The texts of --help.
#pragma once

namespace zklock::tools::help {

inline constexpr const char* about = "Distributed locks on Apache ZooKeeper, from the command line.";

inline constexpr const char* about_footer = R"(
Try it, in two terminals:
  zklock server                                      # prints where it listens, say 127.0.0.1:12345
  export ZKLOCK_CONNECT=127.0.0.1:12345
  zklock run /locks/nightly -- sh -c 'echo I am alone; sleep 5'
  zklock ls /locks/nightly
  zklock doctor /locks
  zklock dashboard --base /locks                     # all of them in a browser
  zklock top /locks                                  # all of them, live in the terminal
  zklock tree /locks                                 # the nodes below, with data and owners
  zklock watch /locks --recursive                    # each change of them as it comes

'zklock SUBCOMMAND --help' tells more.)";

inline constexpr const char* run_about =
    "Waits in the queue for the lock PATH, runs COMMAND while it holds the lock, and releases it.\n"
    "First come, first served, among all programs and machines that use the same path.";

inline constexpr const char* run_footer = R"(
COMMAND gets in its environment:
  ZKLOCK_FENCING_TOKEN   a number that grows from holder to holder: let what the lock protects refuse older ones
  ZKLOCK_LOCK_PATH       PATH
  ZKLOCK_CONNECT         the connect string, so that 'zklock ls "$ZKLOCK_LOCK_PATH"' works inside, with --dev too

The lock is given back when COMMAND and all that it has started have ended, also what it has left behind or put into
the background, as with flock(1).

When things go wrong:
  - zklock is interrupted: SIGINT, SIGTERM and SIGQUIT go to the command and all that it has started, SIGHUP, SIGUSR1
    and SIGUSR2 to the command; the lock is given back when all have ended. A signal that comes later ends the wait for
    a ZooKeeper that does not answer, within five seconds; the lock is free at the session's end.
  - The link to ZooKeeper is lost: a warning; the command goes on, the lock is kept for the session timeout.
  - The lock is lost with the session: SIGTERM to all at once, and SIGKILL to what has not ended after --kill-after;
    from the moment of the loss somebody else may hold the lock.
  - Somebody asks for the lock ('zklock revoke'): with --revocable the same, but the lock is kept until the command has
    ended. Without, nothing.
  - The lock was held for --max-hold: the same, so that a command that hangs blocks nobody for longer.
  - zklock is killed (SIGKILL): all are killed.
  - zklock is stopped (SIGSTOP, Ctrl-Z) for longer than the session timeout: the lock is lost, and all are ended as
    above.
  - zklock-guard, a process beside zklock that sees to the last two, is killed: all are killed, then the lock is given
    back; exit status 137.
What has become another user (sudo) cannot be ended.

A mutex, a read/write lock (--shared, --exclusive) and a semaphore (--permits) on one PATH are three locks that do not
exclude each other: let all programs use the same kind. 'zklock doctor' finds such a path.

Exit status: the command's own, or 128 + n if signal n ended it, if it ended while the lock was held; else
  64   the command line is wrong           75   the lock was not acquired in time
  69   trouble with ZooKeeper              76   the lock was lost while the command ran, or may have been
 126   the command cannot be executed     127   the command was not found
 128+n zklock got signal n while it waited for the lock

Examples:
  zklock run /locks/nightly --timeout 5s -- ./nightly-report --all
  zklock run /locks/nightly --timeout 0 -- ./nightly-report     # now or never
  zklock run /locks/prices --shared -- ./quote                  # beside other readers
  zklock run /semaphores/licences --permits 5 -- ./simulate     # five at a time
  zklock run --dev /locks/a -- env                              # a throw-away server, to try it out)";

inline constexpr const char* lead_about =
    "Stands for the leadership of PATH, runs COMMAND while it leads, and resigns.\n"
    "First come, first served, among all programs and machines that use the same path; on Curator's LeaderLatch.";

inline constexpr const char* lead_footer = R"(
COMMAND gets in its environment:
  ZKLOCK_FENCING_TOKEN   a number that grows from leader to leader: let what it writes to refuse older ones
  ZKLOCK_LOCK_PATH       PATH
  ZKLOCK_CONNECT         the connect string, so that 'zklock leaders "$ZKLOCK_LOCK_PATH"' works inside, with --dev too

All else is as 'zklock run --help' says, with the leadership for the lock: what happens at signals, when the link or the
leadership is lost, and the exit status. Only 'zklock revoke' does not reach a leader.

With --priority a candidate whose turn has come lets those behind it with a higher priority go ahead. Candidates without
one, such as Curator's, count as the lowest, and let nobody go ahead.

Examples:
  zklock lead /leader/nightly --id "$HOSTNAME" -- ./scheduler
  zklock lead /leader/nightly --priority 7 -- ./scheduler
  zklock lead --dev /leader/a -- env                            # a throw-away server, to try it out)";

inline constexpr const char* leaders_about =
    "Shows which candidate leads PATH, and which ones stand behind it in which order.";

inline constexpr const char* leaders_footer = R"(
PATH is a LeaderLatch's, or else a LeaderSelector's, Curator's or zklock's, or that of Kazoo's Election. A candidate of
a LeaderLatch may have a priority in its node's name, as -p007-.

Exit status: 0, also if nobody stands; 64 the command line is wrong; 69 trouble with ZooKeeper.

Examples:
  zklock leaders /leader/nightly --connect zk1:2181,zk2:2181/app
  zklock leaders /leader/nightly --json)";

inline constexpr const char* ls_about =
    "Shows who holds the lock PATH, and who waits for it in which order; or, a line for each, the locks below PATH.";

inline constexpr const char* ls_footer = R"(
The age of a node is reckoned by this machine's clock from the time that the server noted.
A lock's mutexes come first, its readers and writers after them, then those under Kazoo's names, each in a line of
their own: who runs alone is its first, readers run together.
Of a semaphore's permits and those who want some, who is just being let in has nodes among both, and waits.
A holder in the state "asked" shall give the lock back ('zklock revoke'). Its node, and those that are not zklock's,
such as Curator's, are shown without client and count.

The number of permits that a node keeps (SharedPermits) is shown for that node's own path.

Exit status: 0, also if the wait queue is empty; 64 the command line is wrong; 69 trouble with ZooKeeper. A lock that
nobody uses has no node, so a PATH without one is no error; a line on stderr says so.

Examples:
  zklock ls /locks/nightly --connect zk1:2181,zk2:2181/app
  zklock ls /locks)";

inline constexpr const char* count_about =
    "Prints the counter PATH, a DistributedAtomicLong of zklock or Curator: 0 if there is no node.";

inline constexpr const char* count_footer = R"(
Exit status: 0 the number is printed; with --add it was added, exactly once; 64 the command line is wrong; 69 trouble with
ZooKeeper, no number, or the sum would be out of range.

Example:
  zklock count /counters/orders --add 1)";

inline constexpr const char* revoke_about =
    "Asks those who hold the lock PATH to give it back: the first in its wait queue, all readers in front, all who "
    "have a "
    "permit;\n"
    "or the one whose node PATH is. It is a request: programs that do not listen for it go on, as does 'zklock run' "
    "without "
    "--revocable.";

inline constexpr const char* revoke_footer = R"(
Prints whom it has asked.

Exit status: 0 asked, or nobody holds the lock; 1 it was not given back within --wait; 64 the command line is wrong; 69
trouble with ZooKeeper, or the node belongs to no session.

Example:
  zklock revoke /locks/nightly --wait 10s)";

inline constexpr const char* doctor_about =
    "Looks at all locks at PATH and below for what may be wrong, and says what to do about it. It only reads.";

inline constexpr const char* doctor_footer = R"(
Problems:
  deadlock         clients, that is sessions, that wait for each other in a circle. A client with several threads may go
                   on all the same: its nodes do not tell which thread holds what.
  stuck            after --wait the same node is still first in the queue, and the node behind it has waited for longer
                   than --stuck-after; in a line for permits it is enough that the first node has waited so long
  mixed-locks      locks of different kinds or names on one path, a semaphore, too: they do not exclude each other
  persistent-node  a lock's node that no session's end removes
  malformed-name   a lock's name without the server's number: it excludes nobody
  sequence-end     the numbers of a lock's directory come to their end
Notes, which may be as you want them:
  foreign-data     data that are no client-id:count, in a line where others' are
  foreign-child    other nodes in a lock's directory: in Curator's way, when they sort in front
  unreadable       no permission
  cut-off          --max-nodes or --max-depth was reached

Exit status: 0 no problem; 1 a problem; 64 the command line is wrong; 69 trouble with ZooKeeper, or PATH does not exist.

Examples:
  zklock doctor /locks
  zklock doctor /locks /semaphores --wait 10s --json)";

inline constexpr const char* dashboard_about =
    "Serves a page that shows all locks below a node live: which client holds each, which wait, who blocks whom.\n"
    "It only reads, and costs ZooKeeper no more than --reads-per-second and --watches.";

inline constexpr const char* dashboard_footer = R"(
The first line of its output is the page's address. Port 0 takes one that is free.

Without options only this machine reaches the page, and any of its users may read it. With --allow-revoke, or when it
listens elsewhere, the page needs a token: that of --token-file, or one that is made and printed as a part of the
address. There is no TLS: put a proxy in front of it, and name that one by --allowed-host.
With --allow-revoke the page can ask a holder to release its lock, as 'zklock revoke' does. It deletes nothing. Each
such request is a line of JSON on stdout, and in the file of --audit.

Programs may read /metrics (Prometheus), with "Authorization: Bearer TOKEN" if there is a token, /livez and /readyz.

Exit status: 0 when interrupted (SIGINT, SIGTERM, SIGHUP); 64 the command line is wrong; 69 it cannot listen.

Example:
  zklock dashboard --connect zk1:2181,zk2:2181 --base /locks)";

inline constexpr const char* top_about =
    "Shows all locks below PATH live in the terminal, the longest wait first. It only reads, and costs ZooKeeper no\n"
    "more than 500 requests a second and 2,000 watches.";

inline constexpr const char* top_footer = R"(
Keys: j k and arrows move, Enter opens the wait queue of a lock, Esc closes it, / searches, b shows which client blocks
which and what zklock doctor would find, ? explains, q quits.

With --once, or where stdout or stdin is no terminal, it reads all once, prints a table, and ends. HELD is the age of
the first holder's node, LONGEST that of the first waiter's.
With --json it prints a line of JSON for each lock, and then one for each change, until it is interrupted:
  {"path":...,"kind":...,"holders":1,"waiting":2,"holder":...,"asked":false,"held_ms":...,"wait_ms":...,"time_ms":...}
  {"path":...,"gone":true,"time_ms":...}              the lock's directory is gone
  {"base":...,"exists":false,"time_ms":...}           PATH does not exist; or is there again
  {"connected":false,"contact_ms":...,"time_ms":...}  ZooKeeper is away since then; or is there again
time_ms and contact_ms are milliseconds since 1970; a time that is not known is null. What begins and ends between two
readings is not seen.

While ZooKeeper is away, what was seen stays, with its age. A PATH that does not exist is no error, and is not created.

Exit status: 0, also when interrupted; 64 the command line is wrong; 69 trouble with ZooKeeper (on the screen it waits
for it instead).

Examples:
  zklock top /locks
  zklock top /locks --once
  zklock top /locks --json | jq --unbuffered 'select(.wait_ms > 60000)')";

inline constexpr const char* tree_about = "Shows the node PATH and all below it: data, versions and owners.";

inline constexpr const char* tree_footer = R"(
OWNER is the session of an ephemeral node, "container" or "ttl", or "-". Long data are cut; --json has all of them. A
node that may not be read is shown with the reason. The tree is read node by node, and may change meanwhile.

Exit status: 0; 1 there is no such node; 64 the command line is wrong; 69 trouble with ZooKeeper.

Example:
  zklock tree /config)";

inline constexpr const char* watch_about =
    "Prints what is at PATH and its children, then a line for each change, until interrupted. It only reads.";

inline constexpr const char* watch_footer = R"(
Lines begin with a word:
  created, changed, deleted   a node, its version, its owner if it has one, its data
  unreadable                  a node that may not be read, and why
  initialized                 all that was there at the beginning has been printed
  live                        the lines are up to date; after "stale" all that was missed has been printed
  stale                       the link is lost; changes come later, and some in one
  reset                       the servers have lost what they had; what there is now follows
With --json each line is an object: {"type":"changed","path":...,"data":...,"version":3,...,"time_ms":...}. What was
changed several times between two readings is one line, and "skipped" counts the versions that it does not show.

A PATH that does not exist is no error, and is not created.

Exit status: 0 when interrupted (SIGINT, SIGTERM, SIGHUP); 64 the command line is wrong; 69 trouble with ZooKeeper.

Examples:
  zklock watch /config --recursive
  zklock watch /config --json | jq --unbuffered 'select(.type == "changed")')";

inline constexpr const char* server_about =
    "Starts a throw-away ZooKeeper server on 127.0.0.1, prints its connect string, and runs until interrupted.\n"
    "Its data are in a temporary directory and go with it. It needs Java and ZooKeeper's classes (Debian:\n"
    "libzookeeper-java).";

inline constexpr const char* server_footer = R"(
Exit status: 0 when interrupted (SIGINT, SIGTERM, SIGHUP); 64 the command line is wrong; 69 the server did not start,
or ended.

Example:
  zklock server --port 2181 &)";

}  // namespace zklock::tools::help
