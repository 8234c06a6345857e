#!/usr/bin/env bash
# The shortest run of the benchmark, with Curator; checks what it has written. Usage: smoke_test.sh SOURCES BUILD
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
javac -d "$work" -cp /usr/share/java/curator-recipes.jar:/usr/share/java/curator-framework.jar "$1/bench/peers/CuratorBench.java"
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
assert 1.9 < median("requests", "uncontended", subject="zklock") < 3
END_OF_CHECK
