"""The cases that are measured, and the subjects of each."""

from dataclasses import dataclass, field


@dataclass
class Spec:
    """A subject in a case: its name in the results, the driver's name for it, and its own words."""

    name: str
    subject: str
    words: dict = field(default_factory=dict)
    processes: int = 1


@dataclass
class Case:
    name: str
    server: str
    title: str
    words: dict
    specs: list
    rounds: int
    length_ms: int
    ramp_ms: int = 60
    special: str = ""  # a case of special.py or of recipes.py: not measured by the clock
    size: dict = field(default_factory=dict)  # what recipes.py is to do

    def servers(self):
        return {self.server, *(spec.subject for spec in self.specs)}


KEPT = ("zklock-kept", "zklock-kept-silent", "zklock-kept-blocking")


def plain(*names):
    return [Spec(name, name) for name in names]


def uncontended(server, title, rounds, length_ms, others=()):
    return Case(f"uncontended-{server}" if server != "fast" else "uncontended", server, title, {"waiters": 1},
                plain("zklock", "zklock-lease", "zklock-polling", "zklock-blocking", *KEPT, "raw", "raw-lease", "raw-serial",
                      "curator", "kazoo", *others), rounds, length_ms)


def contended(waiters, rounds, length_ms, stores=()):
    specs = plain("zklock", "zklock-blocking", *(KEPT if waiters <= 64 else ()), "raw", "curator-shared", "curator-own", *stores)
    if waiters < 512:
        specs += plain("kazoo")
    specs.append(Spec("curator-sessions", "curator", {"sessions": min(waiters, 32)}))
    return Case(f"contended-{waiters}", "fast", f"One lock, {waiters} waiters in one process", {"waiters": waiters},
                specs, rounds, length_ms, ramp_ms=250 if waiters < 512 else 800)


def crowd_of_keepers(waiters, rounds, length_ms):
    return Case(f"contended-{waiters}", "fast", f"One lock, {waiters} waiters in one process", {"waiters": waiters},
                plain("zklock", *KEPT), rounds, length_ms, ramp_ms=250)


def over_processes(waiters, rounds, length_ms):
    """A process for each waiter; for Curator a session for each, in one JVM, which is its faster arrangement."""
    return Case(f"processes-{waiters}", "fast", f"One lock, {waiters} waiters in as many processes or sessions", {},
                [Spec("zklock", "zklock", processes=waiters),
                 Spec("curator-sessions", "curator", {"waiters": waiters, "sessions": waiters}),
                 Spec("raw-sessions", "raw", {"waiters": waiters, "sessions": waiters})],
                rounds, length_ms, ramp_ms=250)


def independent(locks, sessions, rounds, length_ms):
    return Case(f"independent-{locks}-{sessions}", "fast",
                f"{locks} locks, a waiter each, over {sessions} session{'s' if sessions > 1 else ''}",
                {"waiters": locks, "locks": locks, "sessions": sessions},
                plain("zklock", "zklock-lease", "zklock-blocking", "raw", "curator", "kazoo"), rounds, length_ms, ramp_ms=250)


def turns(name, turn, title, rounds, length_ms):
    """Two clients, each with a session of its own; while one of them works, the other one does not ask for the lock."""
    return Case(name, "fast", title, {"task": "turns", "waiters": 2, "clients": 2, "turn": turn},
                plain("zklock", "zklock-lease", "zklock-blocking", *KEPT[:2], "curator", "kazoo", "redis"), rounds, length_ms)


def read_mostly(clients, rounds, length_ms):
    return Case("read-mostly", "fast", f"{clients} clients with a reader each, and a write once a second",
                {"task": "read-write", "readers": clients, "writers": 1, "clients": clients, "write-every": 1000},
                plain("zklock", *KEPT[1:], "curator"), rounds, length_ms)


def failed_tries(rounds, length_ms):
    return Case("failed-tries", "fast", "Tries for a lock that another client holds",
                {"task": "tries", "waiters": 2, "clients": 2},
                plain("zklock", "zklock-blocking", "curator", "kazoo", "redis"), rounds, length_ms)


def metered(rounds, length_ms):
    """With all metrics, and without any, taking turns."""
    return Case("metered", "fast", "64 locks, a waiter each, over 8 sessions, with all metrics",
                {"waiters": 64, "locks": 64, "sessions": 8}, [*plain("zklock"), Spec("metered", "zklock-metered")],
                rounds, length_ms, ramp_ms=250)


def read_write(readers, rounds, length_ms):
    """Without Kazoo, whose readers and writers at times wait for a client that is gone."""
    return Case(f"read-write-{readers}-1", "fast", f"{readers} readers and a writer, in one process",
                {"task": "read-write", "readers": readers, "writers": 1}, plain("zklock", "curator"), rounds,
                length_ms, ramp_ms=250)


def re_entry(rounds, length_ms):
    return Case("re-entry", "fast", "The holder enters the lock again", {"task": "re-entry"},
                plain("zklock", "zklock-blocking", "curator"), rounds, length_ms)


def observers(rounds, length_ms):
    """What an observer costs. The differences are small, so there are many rounds."""
    return Case("observers", "fast", "One lock, one client, with observers", {"waiters": 1},
                [Spec("unobserved", "zklock"), *plain("zklock-observed", "zklock-audited")], rounds, length_ms)


def holder_killed(rounds):
    return Case("holder-killed", "fast", "From a holder's SIGKILL to the next grant: session timeout 2000 ms, tick 500 ms",
                {"timeout": 2000}, [Spec("zklock", "hold"), Spec("curator", "hold")], rounds, 0, special="holder-killed")


def crowd(rounds):
    return Case("crowd", "fast", "100,000 acquires wait in one process", {"waiters": 100_000, "timeout": 10_000},
                [Spec("zklock", "crowd")], rounds, 0, special="crowd")


# The programs of bench/recipes and of CuratorRecipes.java.
RECIPES = ("candidates", "lead", "counters", "atomics", "double-barriers", "count-listener", "caches", "member", "comer",
           "kept-node")


def both(program):
    return [Spec("zklock", program), Spec("curator", program)]


def leaders(candidates, processes, hold_ms, rounds, length_ms):
    """Curator's candidates are in one JVM, which is its faster arrangement, each with a session of its own."""
    ours = Spec("zklock", "candidates", {"clients": candidates // processes}, processes)
    places = f"{processes} processes" if processes > 1 else "one process"
    return Case(f"leaders-{candidates}", "fast",
                f"From a resignation to the next leader: {candidates} candidates in {places}", {"hold": hold_ms},
                [ours, Spec("curator", "candidates", {"clients": candidates})], rounds, length_ms, ramp_ms=300)


def leader_killed(rounds):
    return Case("leader-killed", "fast",
                "From a leader's SIGKILL to the next one: session timeout 2000 ms, tick 500 ms", {"timeout": 2000},
                both("lead"), rounds, 0, special="holder-killed")


def count(clients, rounds, length_ms):
    """Each client has a session of its own, and tries each increment until it is confirmed."""
    by = f"{clients} clients" if clients > 1 else "one client"
    return Case(f"count-{clients}", "fast", f"A shared count, incremented by {by}", {"clients": clients},
                both("counters"), rounds, length_ms, ramp_ms=250)


def atomics(clients, waiters, rounds, length_ms):
    """Curator tries an increment 100 times; those that fail do not count."""
    by = f"{clients} clients, one each" if clients > 1 else f"one client, {waiters} at a time"
    return Case(f"atomics-{waiters}", "fast", f"A DistributedAtomicLong, incremented by {by}",
                {"clients": clients, "waiters": waiters}, both("atomics"), rounds, length_ms, ramp_ms=250)


def double_barrier(members, rounds, length_ms):
    """From the call that enters to the end of the one that leaves."""
    return Case(f"double-barrier-{members}", "fast", f"A double barrier of {members} clients, in one process",
                {"clients": members, "waiters": members}, both("double-barriers"), rounds, length_ms, ramp_ms=250)


def count_heard(rounds, length_ms):
    return Case("count-heard", "fast", "From the call that sets a shared count to the listener of another client",
                {"clients": 2}, both("count-listener"), rounds, length_ms, ramp_ms=250)


def cache(leaves, inner, warm, rounds):
    return Case(f"cache-{leaves}", "fast",
                f"The beginning of a cache: {leaves:,} leaves in {inner} directories, a new session", {},
                both("caches"), rounds, 0, special="cache",
                size={"leaves": leaves, "inner": inner, "bytes": 64, "warm": warm})


def cache_relink(leaves, inner, changed, warm, rounds, specs=None):
    return Case("cache-relink", "fast",
                f"A cache of {leaves:,} leaves, of which {changed} change while its link is cut", {},
                specs or both("caches"), rounds, 0, special="cache-relink",
                size={"leaves": leaves, "inner": inner, "bytes": 64, "changed": changed, "warm": warm})


def cache_changes(rate, warm, rounds, length_ms, specs=None):
    return Case("cache-changes", "fast", f"A cache of 1,000 leaves, with {rate:,} changes a second", {},
                specs or both("caches"), rounds, length_ms, special="cache-changes",
                size={"leaves": 1000, "inner": 10, "bytes": 64, "rate": rate, "warm": warm})


def cache_restart(clients, leaves, warm, rounds, specs=None):
    return Case(f"cache-restart-{clients}", "fast",
                f"The server is started again: {clients} clients with a cache of {leaves:,} leaves each",
                {"clients": clients}, specs or both("caches"), rounds, 0, special="cache-restart",
                size={"leaves": leaves, "inner": 10, "bytes": 64, "changed": 50, "warm": warm})


def group(members, killed, rounds):
    return Case(f"group-{members}", "fast",
                f"A group of {members} processes, {killed} are killed at a time: session timeout 2000 ms, tick 500 ms",
                {"timeout": 2000}, [Spec("zklock", "member")], rounds, 0, special="group",
                size={"members": members, "killed": killed})


def group_change(members, rounds, length_ms):
    """The members are in one process, with a session each; one more joins and leaves in turn."""
    return Case(f"group-change-{members}", "fast",
                f"A client joins a group of {members} and leaves it: until all of them have it in their views",
                {"clients": members + 1}, both("comer"), rounds, length_ms)


def kept_node(ends, warm, rounds):
    return Case("kept-node", "fast", f"From a new session to the node, {ends} ended sessions a round", {},
                both("kept-node"), rounds, 0, special="kept-node", size={"ends": ends, "warm": warm})


STORES = ("redis", "memcached", "mariadb", "std-mutex")
ONE_LOCK = "One lock, one client"


def warm_up():
    return Case("warm-up", "", "", {"waiters": 8}, plain("raw"), 1, 3000)


def smoke():
    return [Case("uncontended", "fast", ONE_LOCK, {"waiters": 1}, plain("zklock", "curator"), 3, 300),
            Case("contended-8", "fast", "One lock, 8 waiters in one process", {"waiters": 8},
                 plain("zklock", "curator-own"), 3, 300),
            leaders(4, 2, 5, 1, 2000),
            count(2, 1, 500),
            atomics(1, 8, 1, 500),
            double_barrier(2, 1, 500),
            count_heard(1, 500),
            cache(200, 10, 0, 1),
            cache_relink(200, 10, 20, 0, 1, [Spec("zklock", "caches")]),
            cache_changes(200, 0, 1, 300, [Spec("zklock", "caches")]),
            cache_restart(2, 100, 0, 1, [Spec("zklock", "caches")]),
            group(4, 1, 1),
            group_change(4, 1, 2000),
            kept_node(2, 0, 1)]


def quick():
    return [uncontended("fast", ONE_LOCK, 11, 300, STORES), contended(8, 5, 500), contended(128, 5, 500)]


def whole():
    return [uncontended("fast", ONE_LOCK, 13, 300, STORES),
            *(contended(waiters, 5, 500, STORES if waiters in (8, 32) else ()) for waiters in (2, 8, 32, 128)),
            crowd_of_keepers(64, 5, 500),
            contended(512, 3, 1500),
            *(over_processes(waiters, 5, 500) for waiters in (2, 8, 32)),
            *(independent(locks, sessions, 11 if sessions > 1 else 5, 500) for locks in (64, 256) for sessions in (1, 8)),
            turns("alternating", 1, "One lock, two clients in turn", 9, 300),
            turns("affinity", 99, "One lock, 99 of 100 times the same client", 9, 500),
            read_mostly(4, 5, 3000),
            failed_tries(9, 300),
            metered(41, 500),
            *(read_write(readers, 11, 600) for readers in (8, 64)),
            re_entry(5, 200),
            observers(101, 200),
            leaders(8, 8, 5, 9, 500),
            leaders(100, 1, 0, 5, 700),
            leader_killed(4),
            *(count(clients, 9, 500) for clients in (1, 8)),
            atomics(1, 64, 9, 500),
            atomics(8, 8, 9, 500),
            double_barrier(16, 9, 500),
            count_heard(9, 500),
            cache(10_000, 100, 5, 7),
            cache_relink(10_000, 100, 100, 1, 3),
            cache_changes(2_000, 1, 5, 2000),
            cache_restart(20, 1_000, 1, 3),
            group(64, 8, 4),
            *(group_change(members, 9, 700) for members in (16, 64)),
            kept_node(200, 1, 5),
            uncontended("durable", ONE_LOCK + "; the log is on a disk, with fsync", 9, 300),
            uncontended("ensemble", ONE_LOCK + "; three servers", 9, 300),
            holder_killed(4),
            crowd(1)]
