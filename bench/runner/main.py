"""Runs the cases, prints the tables and writes the results. Called by scripts/bench."""

import argparse
import contextlib
import json
import pathlib
import shutil
import signal
import sys
import time

import cases
import report
import servers
from subjects import Failure, Subject

ROOT = pathlib.Path(__file__).resolve().parents[2]
JARS = "/usr/share/java/curator-recipes.jar:/usr/share/java/curator-framework.jar"


class Bench:
    def __init__(self, build, work):
        self.build, self.work = build, work
        self.log = open(work / "subjects.log", "w")
        self.running = {}  # servers, by kind
        self.stack = contextlib.ExitStack()
        self.left_out = {}

    def command(self, spec):
        if spec.subject.startswith("curator"):
            return ["java", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", f"{self.work}:{JARS}", "CuratorBench"]
        if spec.subject == "kazoo":
            return ["/usr/bin/python3", str(ROOT / "bench/peers/kazoo_bench.py")]
        return [str(self.build / "bench/zklock_bench")]

    def server(self, kind):
        if kind not in self.running:
            if kind in servers.OTHERS:
                program, start = servers.OTHERS[kind]
                if not shutil.which(program):
                    raise Failure(f"{program} is not installed")
                server = start()
            else:
                server = servers.start_zookeeper(str(self.build / "bench/zklock_bench_server"), kind, self.work)
            self.running[kind] = self.stack.enter_context(server)
            if kind not in servers.OTHERS:
                self.warm(server)
        return self.running[kind]

    def warm(self, server):
        """Lets the servers' compilers see what they will be asked for."""
        case = cases.warm_up()
        subject = Subject(case.specs[0], self.command(case.specs[0]), case, server, self.log)
        subject.run(0, case.length_ms)
        subject.close()

    def subject(self, spec, case):
        kind = spec.subject if spec.subject in servers.OTHERS else case.server
        try:
            return Subject(spec, self.command(spec), case, self.server(kind), self.log)
        except (Failure, OSError, RuntimeError) as trouble:
            self.left_out.setdefault(spec.name, str(trouble))
            return None

    def run(self, case, warm_ms):
        """Every subject once a round; the order turns. Gives the metrics of each subject, round by round."""
        started = time.monotonic()
        print(f"{case.name} ...", end="", flush=True)
        subjects, rounds = [], {}
        try:
            for spec in case.specs:
                if subject := self.subject(spec, case):
                    subjects.append(subject)
                    warm = warm_ms if spec.subject.startswith("curator") else 300
                    subject.run(0, warm)
                    rounds[subject.name] = []
            for number in range(case.rounds):
                first = number % len(subjects)
                for subject in subjects[first:] + subjects[:first]:
                    rounds[subject.name].append(subject.run(case.ramp_ms, case.length_ms))
            for subject in subjects:
                peak = subject.peak_memory()
                for part in rounds[subject.name]:
                    part["peak_memory_mib"] = peak
        finally:
            for subject in subjects:
                subject.close()
        print(f" {time.monotonic() - started:.0f} s", flush=True)
        return rounds


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--size", choices=["smoke", "quick", "whole"], default="whole")
    parser.add_argument("--only", default="")
    return parser.parse_args()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    arguments = parse_arguments()
    arguments.work.mkdir(parents=True, exist_ok=True)
    chosen = [case for case in getattr(cases, arguments.size)() if arguments.only in case.name]
    warm_ms = {"smoke": 1000, "quick": 2500, "whole": 4000}[arguments.size]
    bench = Bench(arguments.build, arguments.work)
    entries, tables = [], []
    with bench.stack:
        for case in chosen:
            of_case = report.results(case.name, bench.run(case, warm_ms))
            entries += of_case
            tables.append(report.table(case.title, of_case))
            arguments.out.write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n")
    print("\n" + "\n".join(tables))
    for name, why in bench.left_out.items():
        print(f"Left out: {name}: {why}")
    print(f"Results: {arguments.out}")


main()
