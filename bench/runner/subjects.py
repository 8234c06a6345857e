"""Subjects as processes: their orders and their answers."""

import contextlib
import json
import statistics
import subprocess
import threading

PATIENCE = 60  # seconds


class Failure(Exception):
    pass


def peak_memory_mib(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def quantile(in_order, share):
    return in_order[int(share * (len(in_order) - 1))]


class Program:
    """One driver process; see bench/driver/main.cpp."""

    def __init__(self, command, subject, words, log):
        self.process = subprocess.Popen([*command, subject, *(f"{key}={value}" for key, value in words.items())],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                                        start_new_session=True)

    def _line(self):
        """Reads a line; kills a process that prints none for PATIENCE seconds."""
        timer = threading.Timer(PATIENCE, self.process.kill)
        timer.start()
        try:
            return self.process.stdout.readline().strip()
        finally:
            timer.cancel()

    def expect(self, word):
        line = self._line()
        if line != word:
            raise Failure(f"said '{line}' instead of '{word}'")

    def order(self, words):
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()

    def answer(self):
        line = self._line()
        if not line:
            raise Failure("has not answered")
        return json.loads(line)

    def ask(self, words):
        self.order(words)
        return self.answer()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Subject:
    """One or several processes that do the same, as one subject."""

    def __init__(self, spec, command, case, server, log):
        self.name, self.case, self.server, self.spec = spec.name, case.name, server, spec
        words = {**case.words, **spec.words, "servers": server.address, "path": f"/bench/{case.name}/{spec.name}"}
        self.programs = []
        try:
            for _ in range(spec.processes):
                self.programs.append(Program(command, spec.subject, words, log))
        except OSError:
            self.close()
            raise

    def wait_ready(self):
        for program in self.programs:
            program.expect("ready")

    def run(self, ramp_ms, length_ms):
        """One measurement: a dictionary of metrics."""
        for program in self.programs:
            program.order(f"run {ramp_ms} {length_ms}")
        for program in self.programs:
            program.expect("begin")
        requests, events, cpu = self.server.requests(), self.server.events(), self.server.cpu_seconds()
        for program in self.programs:
            program.expect("end")
        server_cpu = self.server.cpu_seconds() - cpu
        requests = None if requests is None else self.server.requests() - requests
        events = None if events is None else self.server.events() - events
        return metrics([program.answer() for program in self.programs], server_cpu, requests, events)

    def kill(self):
        for program in self.programs:
            program.kill()

    def peak_memory(self):
        return sum(peak_memory_mib(program.process.pid) for program in self.programs)

    def close(self):
        for program in self.programs:
            program.close()


def handoffs(turns):
    """From each resignation to the next leader."""
    turns.sort()
    pairs = [(resigned, led) for (_, resigned), (led, _) in zip(turns, turns[1:])]
    if any(led < resigned for resigned, led in pairs):
        raise Failure("two lead")
    return pairs


def metrics_of_spans(answers):
    """How many spans of time there were, how many a second and how long, in the time that all answers cover."""
    began, ended = max(answer["began"] for answer in answers), min(answer["ended"] for answer in answers)
    of_kind, number, result = {}, 0, {}
    for answer in answers:
        for kind, spans in answer["spans"].items():
            of_kind.setdefault(kind, []).extend(spans)
        grown, confirmed = answer.get("grown", 0), len(answer["spans"].get("increments", ()))
        if grown != confirmed:
            raise Failure(f"the count has grown by {grown}, and {confirmed} increments were confirmed")
    for kind, spans in of_kind.items():
        spans = handoffs(spans) if kind == "turns" else spans
        times = sorted((to - start) * 1e-3 for start, to in spans if began <= start and to <= ended)
        number += len(times)
        prefix = f"{kind}_" if len(of_kind) > 1 else ""
        result[f"{kind}_per_s"] = len(times) / (ended - began) * 1e9
        if times:  # there may be none while a subject warms up
            result |= {f"{prefix}p50_us": quantile(times, 0.5), f"{prefix}p99_us": quantile(times, 0.99)}
    if not of_kind:
        raise Failure("has done nothing")
    return number, result


def metrics(answers, server_cpu, requests, events):
    """The metrics from the answers of all processes of a subject, and from what the server has used meanwhile."""
    result, cycles = {}, 0
    if "spans" in answers[0]:
        cycles, result = metrics_of_spans(answers)
        if cycles and events is not None:
            result["events"] = events / cycles
    for kind, prefix in (("locks", ""), ("reads", "read_"), ("writes", "write_"), ("others", "other_"), ("tries", "try_")):
        parts = [(answer[kind], answer["seconds"]) for answer in answers if kind in answer]
        if not parts:
            continue
        if kind != "others":  # they are among the locks, too
            cycles += sum(part["cycles"] for part, _ in parts)
        result[f"{kind}_per_s"] = sum(part["cycles"] / seconds for part, seconds in parts)
        timed = [part for part, _ in parts if part["p50_us"] > 0]
        if timed:
            result[f"{prefix}p50_us"] = statistics.median(part["p50_us"] for part in timed)
            result[f"{prefix}p99_us"] = max(part["p99_us"] for part in timed)
    if cycles:
        result["client_cpu_us"] = sum(answer["cpu_seconds"] for answer in answers) / cycles * 1e6
        result["server_cpu_us"] = server_cpu / cycles * 1e6
        if requests is not None:
            result["requests"] = requests / cycles
    return result
