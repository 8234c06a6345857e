"""Cases that do not measure cycles in a time."""

import time

from subjects import Program


def holder_killed(bench, case):
    """A holder is killed, and the next waiter gets the lock; it is the holder of the next round."""
    server = bench.server(case.server)
    rounds = {}
    for spec in case.specs:
        words = {**case.words, "servers": server.address, "path": f"/bench/{case.name}/{spec.name}"}
        programs = []

        def start():
            programs.append(Program(bench.command_of(spec), spec.subject, words, bench.log))
            programs[-1].expect("ready")
            programs[-1].order("acquire")
            return programs[-1]

        try:
            holder = start()
            holder.expect("held")
            parts = []
            for _ in range(case.rounds):
                waiter = start()
                _wait_until(lambda: server.number("zk_ephemerals_count") >= 2)
                killed = time.monotonic()
                holder.kill()
                waiter.expect("held")
                parts.append({"next_grant_ms": (time.monotonic() - killed) * 1000})
                holder = waiter
            rounds[spec.name] = parts
        finally:
            for program in programs:
                program.kill()
    return rounds


def _wait_until(condition, limit=20):
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("waited in vain")
        time.sleep(0.01)


def crowd(bench, case):
    server = bench.server(case.server)
    spec = case.specs[0]
    words = {**case.words, "servers": server.address, "path": "/bench/crowd"}
    parts = []
    for _ in range(case.rounds):
        program = Program(bench.command_of(spec), spec.subject, words, bench.log)
        try:
            parts.append(program.answer())
        finally:
            program.kill()
    return {spec.name: parts}


RUN = {"holder-killed": holder_killed, "crowd": crowd}
