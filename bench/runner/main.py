"""Runs the cases, prints the tables and writes the results. Called by scripts/bench."""

import argparse
import contextlib
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import bars
import cases
import recipes
import report
import servers
import special
from subjects import Failure, Subject

ROOT = pathlib.Path(__file__).resolve().parents[2]
JARS = "/usr/share/java/curator-recipes.jar:/usr/share/java/curator-framework.jar"


class Bench:
    def __init__(self, build, work):
        self.build, self.work = build, work
        self.log = open(work / "subjects.log", "w")
        self.running = {}  # servers, by kind
        self.left_out = {}

    def command_of(self, spec):
        """The command of the driver, in the language of the subject."""
        if spec.name.startswith("curator"):
            program = "CuratorRecipes" if spec.subject in cases.RECIPES else "CuratorBench"
            return ["java", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", f"{self.work}:{JARS}", program]
        if spec.subject == "kazoo":
            return ["/usr/bin/python3", str(ROOT / "bench/peers/kazoo_bench.py")]
        return self.recipes() if spec.subject in cases.RECIPES else [str(self.build / "bench/zklock_bench")]

    def recipes(self):
        return [str(self.build / "bench/zklock_bench_recipes")]

    def server(self, kind):
        if kind not in self.running:
            if kind in servers.OTHERS:
                program, start = servers.OTHERS[kind]
                if not shutil.which(program):
                    raise Failure(f"{program} is not installed")
                server = start()
            else:
                server = servers.start_zookeeper(str(self.build / "bench/zklock_bench_server"), kind, self.work)
            self.running[kind] = server
            if kind not in servers.OTHERS:
                self.warm(server)
        return self.running[kind]

    def warm(self, server):
        """Warms up the servers' compilers with the requests to come."""
        case = cases.warm_up()
        subject = Subject(case.specs[0], self.command_of(case.specs[0]), case, server, self.log)
        subject.wait_ready()
        subject.run(0, case.length_ms)
        subject.close()

    def start(self, spec, case):
        kind = spec.subject if spec.subject in servers.OTHERS else case.server
        return Subject(spec, self.command_of(spec), case, self.server(kind), self.log)

    def subjects(self, case, stack):
        """The subjects that can be started."""
        started = []
        for spec in case.specs:
            try:
                started.append(self.start(spec, case))
                stack.callback(started[-1].close)
            except (Failure, OSError, RuntimeError, subprocess.SubprocessError) as trouble:
                self.left_out.setdefault(spec.name, str(trouble))
        for subject in list(started):
            try:
                subject.wait_ready()
            except Failure as trouble:
                self.left_out.setdefault(subject.name, f"{trouble}; see {self.log.name}")
                started.remove(subject)
        return started

    def run(self, case, warm_ms):
        """Runs every subject once a round, in rotating order. Gives the metrics of each subject, round by round."""
        if case.special:
            return {**special.RUN, **recipes.RUN}[case.special](self, case)
        with contextlib.ExitStack() as stack:
            subjects = self.subjects(case, stack)
            for subject in list(subjects):
                self.measure(subject, subjects, 0, warm_ms if subject.name.startswith("curator") else 300)
            rounds = {subject.name: [] for subject in subjects}
            for number in range(case.rounds):
                first = number % len(subjects)
                for subject in subjects[first:] + subjects[:first]:
                    if part := self.measure(subject, subjects, case.ramp_ms, case.length_ms):
                        rounds[subject.name].append(part)
            for subject in subjects:
                peak = subject.peak_memory()
                for part in rounds[subject.name]:
                    part["peak_memory_mib"] = peak
        return {subject.name: rounds[subject.name] for subject in subjects}

    def measure(self, subject, subjects, ramp_ms, length_ms):
        """None, and the subject is left out of the case, if it fails."""
        try:
            return subject.run(ramp_ms, length_ms)
        except (Failure, OSError) as trouble:
            self.left_out[f"{subject.name} in {subject.case}"] = f"{trouble}; see {self.log.name}"
            subjects.remove(subject)
            subject.kill()
            return None

    def close_unused(self, kinds):
        """Ends the servers of other kinds: they would disturb the measurement."""
        for kind in [kind for kind in self.running if kind not in kinds]:
            self.running.pop(kind).__exit__()


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
    chosen = [case for case in getattr(cases, arguments.size)() if re.search(arguments.only, case.name)]
    warm_ms = {"smoke": 500, "quick": 2500, "whole": 3000}[arguments.size]
    bench = Bench(arguments.build, arguments.work)
    entries, tables = [], []
    try:
        for number, case in enumerate(chosen):
            bench.close_unused({kind for later in chosen[number:] for kind in later.servers()})
            started = time.monotonic()
            print(f"{case.name} ...", end="", flush=True)
            of_case = report.results(case.name, bench.run(case, warm_ms))
            print(f" {time.monotonic() - started:.0f} s", flush=True)
            entries += of_case
            tables.append(report.table(f"{case.title} ({case.name})", of_case))
            arguments.out.write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n")
    finally:
        bench.close_unused(())
    tables.append("## The bars\n\n" + bars.judge(entries))
    arguments.out.with_suffix(".md").write_text("\n".join(tables))
    print("\n" + "\n".join(tables))
    for name, why in bench.left_out.items():
        print(f"Left out: {name}: {why}")
    print(f"Results: {arguments.out}")


main()
