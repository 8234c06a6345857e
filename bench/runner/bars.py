"""The bounds that zklock has to meet, and whether a run has met them."""

from report import markdown

HEARTBEATS = 0.01  # requests that were not made for a lock
RECONNECTION = 6  # requests of the C client: the connection, the session's watches in packets of 128 KiB, a heartbeat
EDGES = 0.15  # events of turns that began before the counted time, or end after it
FLIGHT_MS = 10  # of a read while many clients read
ONE_FLIGHT = 1.5  # creates of another node, right after: what takes a second flight takes two of them
WORST = ("next_grant_ms", "gone_max_ms")
VARYING = ("independent-64-8", "independent-256-8", "read-write-64-1")  # their ratios have to hold at the lower quartile

# case, subject, compared to, metric, at least or at most, bound
BARS = [
    ("uncontended", "zklock", "curator", "locks_per_s", ">=", 1.8),
    ("uncontended", "zklock", "curator", "p50_us", "<=", 0.6),
    ("uncontended", "zklock", "curator", "client_cpu_us", "<=", 0.27),
    ("uncontended", "zklock", None, "requests", "<=", 2 + HEARTBEATS),
    ("uncontended", "zklock-lease", "curator", "locks_per_s", ">=", 3),
    ("uncontended", "zklock-lease", None, "requests", "<=", 2 + HEARTBEATS),
    ("uncontended", "zklock-blocking", "curator", "locks_per_s", ">=", 2.3),
    ("uncontended", "zklock", "raw", "p50_us", "<=", 1),
    ("uncontended", "zklock", "raw", "client_cpu_us", "<=", 1.15),
    ("uncontended", "zklock-lease", "raw-lease", "p50_us", "<=", 1.1),
    ("uncontended", "zklock-lease", "raw-lease", "client_cpu_us", "<=", 1.5),
    ("uncontended", "zklock-kept", "zklock-lease", "locks_per_s", ">=", 1.25),
    ("uncontended", "zklock-kept", None, "requests", "<=", 1 + HEARTBEATS),
    ("uncontended", "zklock-kept-silent", None, "locks_per_s", ">=", 500_000),
    ("uncontended", "zklock-kept-blocking", None, "locks_per_s", ">=", 1_000_000),
    ("uncontended-durable", "zklock", "curator", "locks_per_s", ">=", 1.4),
    ("uncontended-ensemble", "zklock", "curator", "locks_per_s", ">=", 1.4),
    *((f"contended-{n}", "zklock", "curator-best", "locks_per_s", ">=", 4.7) for n in (8, 32, 128, 512)),
    *((f"contended-{n}", "zklock", None, "requests", "<=", 2.2) for n in (8, 32, 128, 512)),
    *((f"contended-{n}", "zklock-kept-silent", None, "locks_per_s", ">=", 200_000) for n in (8, 64)),
    ("processes-8", "zklock", "curator-sessions", "locks_per_s", ">=", 1.5),
    ("processes-32", "zklock", "curator-sessions", "locks_per_s", ">=", 1.5),
    ("independent-64-8", "zklock", "curator", "locks_per_s", ">=", 2),
    ("independent-64-8", "zklock", None, "locks_per_s", ">=", 10_000),
    ("independent-256-8", "zklock", "curator", "locks_per_s", ">=", 2),
    ("independent-256-8", "zklock", None, "locks_per_s", ">=", 10_000),
    *(("alternating", kept, "zklock", "locks_per_s", ">=", 0.9) for kept in ("zklock-kept", "zklock-kept-silent")),
    ("affinity", "zklock-kept-silent", "zklock", "locks_per_s", ">=", 20),
    ("affinity", "zklock-kept-silent", "zklock", "other_p99_us", "<=", 2),
    *(("read-mostly", kept, None, "reads_per_s", ">=", 100_000) for kept in ("zklock-kept-silent", "zklock-kept-blocking")),
    ("failed-tries", "zklock", None, "requests", "<=", 2 + HEARTBEATS),
    ("metered", "zklock", "metered", "locks_per_s", "<=", 1.03),
    ("read-write-64-1", "zklock", "curator", "reads_per_s", ">=", 3),
    ("read-write-64-1", "zklock", "curator", "writes_per_s", ">=", 3),
    ("holder-killed", "zklock", None, "next_grant_ms", "<=", 2500),
    ("crowd", "zklock", None, "waiting_bytes", "<=", 5120),
    ("observers", "zklock-observed", "unobserved", "locks_per_s", ">=", 0.99),
    ("observers", "zklock-audited", "unobserved", "locks_per_s", ">=", 0.98),
    ("re-entry", "zklock-blocking", None, "locks_per_s", ">=", 1_000_000),
    ("leaders-8", "zklock", "curator", "p50_us", "<=", 0.6),
    *((f"leaders-{n}", "zklock", None, "events", "<=", 1 + EDGES) for n in (8, 100)),
    ("leader-killed", "zklock", None, "next_grant_ms", "<=", 2500),
    ("atomics-64", "zklock", "curator", "increments_per_s", ">=", 10),
    ("atomics-8", "zklock", "curator", "increments_per_s", ">=", 2),
    ("double-barrier-16", "zklock", "curator", "p50_us", "<=", 0.6),
    ("cache-10000", "zklock", "curator", "initialized_ms", "<=", 0.35),
    ("cache-10000", "zklock", "curator", "bytes", "<=", 0.2),
    ("cache-relink", "zklock", None, "requests", "<=", 100 + 1 + RECONNECTION),
    ("cache-changes", "zklock", None, "lag_of_read", "<=", 2),
    ("cache-changes", "zklock", "curator", "client_cpu_us", "<=", 0.4),
    ("kept-node", "zklock", None, "flights", "<=", ONE_FLIGHT),
    ("group-64", "zklock", None, "gone_max_ms", "<=", 2500 + FLIGHT_MS),
]


def judge(entries):
    """A table of the bars whose cases were run, by the medians; ratios that vary much go by the lower quartile, and bars
    that must hold each time by the worst value."""
    found = {(e["case"], e.get("subject") or e["ratio_of"], e.get("to"), e["metric"]): e for e in entries}
    rows = []
    for case, ours, peer, metric, sign, bar in BARS:
        if entry := found.get((case, ours, peer, metric)):
            value = entry["max" if metric in WORST else "lower_quartile" if peer and case in VARYING else "median"]
            rows.append(_row(case, f"{ours} / {peer}" if peer else ours, metric, value, sign, bar, entry))
    few, many = (found.get((f"contended-{n}", "zklock", None, "locks_per_s")) for n in (8, 512))
    if few and many:
        share = many["median"] / few["median"]
        rows.append(_row("contended-512", "zklock, of that at 8", "locks_per_s", share, ">=", 0.8))
    return markdown([["case", "who", "metric", "measured", "quartiles", "bar", ""], *rows]) if rows else ""


def _number(value):
    return f"{value:.{2 if value < 100 else 0}f}"


def _row(case, who, metric, value, sign, bar, entry=None):
    met = value >= bar if sign == ">=" else value <= bar
    quartiles = f"{_number(entry['lower_quartile'])}-{_number(entry['upper_quartile'])}" if entry else ""
    return [case, who, metric, _number(value), quartiles, f"{sign} {bar:g}", "met" if met else "missed"]
