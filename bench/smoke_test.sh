#!/usr/bin/env bash
# The shortest run of the benchmark, with Curator; checks what it has written. Usage: smoke_test.sh SOURCES BUILD
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
javac -d "$work" -cp /usr/share/java/curator-recipes.jar:/usr/share/java/curator-framework.jar "$1/bench/peers/"Curator*.java
python3 "$1/bench/runner/main.py" --build "$2" --work "$work" --out "$work/results.json" --size smoke
python3 - "$work/results.json" <<'END_OF_CHECK'
import json, sys

entries = json.load(open(sys.argv[1]))
for entry in entries:
    assert entry["min"] <= entry["median"] <= entry["max"], entry

def median(metric, case, **who):
    found = [e["median"] for e in entries if e["case"] == case and e["metric"] == metric and who.items() <= e.items()]
    assert len(found) == 1, (case, metric, who, found)
    return found[0]

for case, curator in [("uncontended", "curator"), ("contended-8", "curator-own")]:
    for subject in ("zklock", curator):
        for metric in ("locks_per_s", "p50_us", "p99_us", "client_cpu_us", "server_cpu_us", "requests", "peak_memory_mib"):
            assert median(metric, case, subject=subject) > 0, (case, subject, metric)
    assert median("locks_per_s", case, ratio_of="zklock", to=curator) > 0
assert 1 < median("requests", "uncontended", subject="zklock") < 4  # 2, in a time that a busy machine shifts

for case, metrics in {"leaders-4": ("p50_us", "turns_per_s"), "cache-200": ("initialized_ms", "bytes", "requests"),
                      "count-2": ("increments_per_s", "p50_us"), "atomics-8": ("increments_per_s", "p50_us"),
                      "double-barrier-2": ("rounds_per_s", "p50_us"), "count-heard": ("p50_us",),
                      "group-change-4": ("joined_p50_us", "left_p50_us"),
                      "kept-node": ("present_p50_us", "flights")}.items():
    for subject in ("zklock", "curator"):
        for metric in metrics:
            assert median(metric, case, subject=subject) > 0, (case, subject, metric)
# What is counted, not timed, is the same on each machine.
nodes, inner, several = 200, 11, 10  # several: connections and heartbeats
assert 0 < median("events", "leaders-4", subject="zklock") < 4
assert 2 * (nodes + inner) <= median("requests", "cache-200", subject="zklock") <= 2 * (nodes + inner) + several
assert 20 < median("requests", "cache-relink", subject="zklock") <= 20 + several
assert median("lag_p99_us", "cache-changes", subject="zklock") > 0
assert median("requests", "cache-restart-2", subject="zklock") > 0
assert 0 < median("gone_max_ms", "group-4", subject="zklock")
END_OF_CHECK
