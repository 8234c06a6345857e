"""What is measured: the cases, and the subjects of each."""

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
    ramp_ms: int = 150
    main: str = "locks_per_s"


def plain(*names):
    return [Spec(name, name) for name in names]


def uncontended(server, title, rounds, length_ms, others=()):
    return Case(f"uncontended-{server}" if server != "fast" else "uncontended", server, title, {"waiters": 1},
                plain("zklock", "zklock-lease", "zklock-blocking", "raw", "raw-lease", "raw-serial", "curator", "kazoo",
                      *others), rounds, length_ms)


def contended(waiters, rounds, length_ms, stores=()):
    specs = plain("zklock", "zklock-blocking", "raw", "curator-shared", "curator-own", "kazoo", *stores)
    specs.append(Spec("curator-sessions", "curator", {"sessions": min(waiters, 32)}))
    return Case(f"contended-{waiters}", "fast", f"One lock, {waiters} waiters in one process", {"waiters": waiters},
                specs, rounds, length_ms, ramp_ms=400)


STORES = ("redis", "memcached", "mariadb")
ONE_LOCK = "One lock, nobody else wants it"


def warm_up():
    return Case("warm-up", "", "", {"waiters": 8}, plain("raw"), 1, 3000)


def smoke():
    return [Case("uncontended", "fast", ONE_LOCK, {"waiters": 1}, plain("zklock", "curator"), 3, 300),
            Case("contended-8", "fast", "One lock, 8 waiters in one process", {"waiters": 8},
                 plain("zklock", "curator-own"), 3, 300)]


def quick():
    return [uncontended("fast", ONE_LOCK, 5, 700, STORES), contended(8, 3, 800), contended(128, 3, 800)]
