"""The cases of leaders, caches, nodes and groups that are not cycles in a time. See bench/recipes/orders.hpp."""

import contextlib
import itertools
import statistics
import threading
import time

from proxy import Proxy
from subjects import Failure, Program, peak_memory_mib, quantile


_NUMBERS = itertools.count(1)


def _start(bench, case, spec, stack, **others):
    """A program of the subject, which is ready."""
    words = {**case.words, **spec.words, "servers": bench.server(case.server).address,
             "path": f"/{case.name}-{spec.name}", **others}
    program = Program(bench.command_of(spec), spec.subject, words, bench.log)
    stack.callback(program.kill)
    program.expect("ready")
    return program


def _plant(bench, case, stack):
    """A tree for all subjects, and where it is. Its paths are short: those of a session's watches have 512 KiB."""
    path = f"/t{next(_NUMBERS)}"
    program = Program(bench.recipes(), "tree", {"servers": bench.server(case.server).address, "path": path}, bench.log)
    stack.callback(program.kill)
    program.expect("ready")
    size = case.size
    return program, program.ask(f"plant {size['inner']} {size['leaves']} {size['bytes']}"), path


def _in_turn(programs, rounds):
    """The subjects of each round, in rotating order; rounds before the first warm up, and have negative numbers."""
    names = list(programs)
    for number in rounds:
        first = number % len(names)
        yield from ((number, name) for name in names[first:] + names[:first])


def _quiet(server, clients=1):
    """Waits until the server gets no requests but the clients' heartbeats, at most one in three seconds from each."""
    while True:
        before = server.requests()
        time.sleep(0.2)
        if (now := server.requests()) <= before + (clients + 2) / 3:
            return now


def _opened(program, tree):
    answer = program.ask("open")
    program.ask(f"await {tree['count']} {tree['sum']}")
    return answer


def cache(bench, case):
    """The beginning of a cache, each time in a new session."""
    server = bench.server(case.server)
    with contextlib.ExitStack() as stack:
        _, tree, path = _plant(bench, case, stack)
        programs = {spec.name: _start(bench, case, spec, stack, path=path) for spec in case.specs}
        rounds = {name: [] for name in programs}
        for number, name in _in_turn(programs, range(-case.size["warm"], case.rounds)):
            requests, cpu = server.requests(), server.cpu_seconds()
            answer = _opened(programs[name], tree)
            answer["requests"] = _quiet(server) - requests
            answer["server_cpu_ms"] = (server.cpu_seconds() - cpu) * 1000
            if number >= 0:
                rounds[name].append(answer)
            programs[name].ask("close")
            _quiet(server)
        for name, program in programs.items():
            for part in rounds[name]:
                part["peak_memory_mib"] = peak_memory_mib(program.process.pid)
    return rounds


def relink(bench, case):
    """A cache whose link is cut, and comes back when some nodes have changed."""
    server = bench.server(case.server)
    with contextlib.ExitStack() as stack:
        planter, tree, path = _plant(bench, case, stack)
        link = stack.enter_context(Proxy(server.address))
        programs = {spec.name: _start(bench, case, spec, stack, path=path, servers=link.address) for spec in case.specs}
        rounds = {name: [] for name in programs}
        for number, name in _in_turn(programs, range(-case.size["warm"], case.rounds)):
            _opened(programs[name], tree)
            _quiet(server)
            link.cut()
            tree = planter.ask(f"change {case.size['changed']}")
            requests, cpu = _quiet(server), server.cpu_seconds()
            began = time.monotonic()
            link.restore()
            programs[name].ask(f"await {tree['count']} {tree['sum']}")
            right = (time.monotonic() - began) * 1000
            requests = _quiet(server) - requests
            if number >= 0:
                rounds[name].append({"right_ms": right, "requests": requests,
                                     "server_cpu_ms": (server.cpu_seconds() - cpu) * 1000})
            programs[name].ask("close")
            _quiet(server)
    return rounds


def _lags(writes, shown):
    """For each write the ms from its reply to the first state shown that has it, in order of size."""
    of_path = {}
    for path, mzxid, at in shown:
        of_path.setdefault(path, []).append((mzxid, at))
    lags = []
    for path, mzxid, at in writes:
        states = [when for which, when in of_path.get(path, []) if which >= mzxid]
        if not states:
            raise Failure(f"{path} is not shown as it was written last")
        lags.append((states[0] - at) * 1e-6)
    return sorted(lags)


def changes(bench, case):
    """A cache while its nodes are written, so many a second."""
    server, rate = bench.server(case.server), case.size["rate"]
    with contextlib.ExitStack() as stack:
        planter, tree, path = _plant(bench, case, stack)
        programs = {spec.name: _start(bench, case, spec, stack, path=path) for spec in case.specs}
        rounds = {name: [] for name in programs}
        for number, name in _in_turn(programs, range(-case.size["warm"], case.rounds)):
            program = programs[name]
            _opened(program, tree)
            _quiet(server)
            requests = server.requests()
            program.order("follow")
            program.expect("begin")
            load = planter.ask(f"load {rate} {case.length_ms}")
            tree = load["tree"]
            program.order(f"{tree['count']} {tree['sum']}")
            program.expect("end")
            answer = program.answer()
            lags = _lags(load["writes"], answer["shown"])
            writes = len(load["writes"])
            if number >= 0:
                rounds[name].append({
                    "changes_per_s": writes / case.length_ms * 1000,
                    "lag_p50_us": quantile(lags, 0.5) * 1000, "lag_p99_us": quantile(lags, 0.99) * 1000,
                    "read_p50_us": load["read_p50_us"], "read_p99_us": load["read_p99_us"],
                    "lag_of_read": quantile(lags, 0.99) * 1000 / load["read_p99_us"],
                    "client_cpu_us": answer["cpu_seconds"] / writes * 1e6,
                    "requests": (server.requests() - requests) / writes - 1})
            program.ask("close")
            _quiet(server)
    return rounds


class Watch(threading.Thread):
    """Looks at a server's requests many times a second, also while it starts."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self._server, self._seen, self._ends = server, [], threading.Event()

    def run(self):
        while not self._ends.wait(0.05):
            with contextlib.suppress(OSError, StopIteration):
                self._seen.append((time.monotonic(), self._server.requests()))

    def end(self):
        """All requests, and the most in a second."""
        self._ends.set()
        self.join()
        best = 0
        for at, requests in self._seen:
            before = max((count for when, count in self._seen if when <= at - 1), default=0)
            best = max(best, requests - before)
        return self._seen[-1][1], best


def restart(bench, case):
    """Many clients with a cache each, whose server is started again."""
    server, clients = bench.server(case.server), case.words["clients"]
    with contextlib.ExitStack() as stack:
        planter, tree, path = _plant(bench, case, stack)
        programs = {spec.name: _start(bench, case, spec, stack, path=path) for spec in case.specs}
        rounds = {name: [] for name in programs}
        for number, name in _in_turn(programs, range(-case.size["warm"], case.rounds)):
            _opened(programs[name], tree)
            _quiet(server, clients)
            server.restart()
            watch = Watch(server)
            watch.start()
            began = time.monotonic()
            tree = planter.ask(f"change {case.size['changed']}")
            programs[name].ask(f"await {tree['count']} {tree['sum']}")
            right = (time.monotonic() - began) * 1000
            _quiet(server, clients)
            requests, peak = watch.end()
            if number >= 0:
                rounds[name].append({"right_ms": right, "requests": requests, "peak_requests_per_s": peak,
                                     "server_cpu_ms": server.cpu_seconds() * 1000})
            programs[name].ask("close")
            _quiet(server, clients)
    return rounds


def group(bench, case):
    """Members are killed, and the others see them go."""
    parts = []
    spec = case.specs[0]
    with contextlib.ExitStack() as stack:
        members = []
        words = {**case.words, "servers": bench.server(case.server).address, "path": f"/{case.name}",
                 "waiters": case.size["members"]}
        for _ in range(case.size["members"]):
            members.append(Program(bench.command_of(spec), spec.subject, words, bench.log))
            stack.callback(members[-1].kill)
        for each in members:
            each.expect("ready")
        for _ in range(case.rounds):
            victims, members = members[:case.size["killed"]], members[case.size["killed"]:]
            killed = {}
            for victim in victims:
                killed[victim.process.pid] = time.monotonic_ns()
                victim.kill()
            gone = []
            for each in members:
                for _ in victims:
                    left = each.answer()
                    gone.append((left["at"] - killed[left["left"]]) * 1e-6)
            parts.append({"gone_p50_ms": statistics.median(gone), "gone_max_ms": max(gone)})
    return {spec.name: parts}


def kept_node(bench, case):
    """A node that is kept, while its client's session is ended again and again: a tenth as often for Curator, whose
    client waits for up to a second before it connects again."""
    server = bench.server(case.server)
    with contextlib.ExitStack() as stack:
        programs = {spec.name: _start(bench, case, spec, stack) for spec in case.specs}
        rounds = {name: [] for name in programs}
        for number, name in _in_turn(programs, range(-case.size["warm"], case.rounds)):
            answers = []
            for _ in range(max(1, case.size["ends"] // (10 if name == "curator" else 1))):
                session = programs[name].ask("session")
                server.end_session(session["end"])
                answers.append(programs[name].ask("await"))
            present, created = (sorted(answer[key] for answer in answers) for key in ("present_us", "create_us"))
            if number >= 0:
                rounds[name].append({"present_p50_us": quantile(present, 0.5),
                                     "present_p99_us": quantile(present, 0.99),
                                     "create_p50_us": quantile(created, 0.5),
                                     "flights": quantile(present, 0.5) / quantile(created, 0.5)})
    return rounds


RUN = {"cache": cache, "cache-relink": relink, "cache-changes": changes, "cache-restart": restart,
       "group": group, "kept-node": kept_node}
