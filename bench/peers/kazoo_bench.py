#!/usr/bin/python3
"""Kazoo as a subject of the benchmark: the same words, orders and replies as bench/driver/main.cpp."""

import json
import logging
import os
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import CancelledError
from kazoo.recipe.lock import Lock, ReadLock, WriteLock

logging.disable(logging.CRITICAL)


class Worker(threading.Thread):
    def __init__(self, bench, name, lock):
        super().__init__(daemon=True)
        self.bench, self.kind, self.lock, self.latencies = bench, name, lock, []

    def run(self):
        bench = self.bench
        while not bench.stopping:
            asked = time.perf_counter()
            try:
                self.lock.acquire()
            except CancelledError:
                return
            self.lock.release()
            if bench.counting:
                self.latencies.append((time.perf_counter() - asked) * 1e6)


class TurnTaker(Worker):
    """Acquires and releases by one client after the other; what the clients after the first do is counted apart, too."""

    def __init__(self, bench, locks):
        super().__init__(bench, "locks", None)
        self.locks, self.others = locks, Worker(bench, "others", None)

    def run(self):
        bench, turn = self.bench, self.bench.number("turn", 1)
        while not bench.stopping:
            for number, lock in enumerate(self.locks):
                for _ in range(turn if number == 0 else 1):
                    if bench.stopping:
                        return
                    asked = time.perf_counter()
                    lock.acquire()
                    lock.release()
                    if bench.counting:
                        took = (time.perf_counter() - asked) * 1e6
                        self.latencies.append(took)
                        if number > 0:
                            self.others.latencies.append(took)


class Trier(Worker):
    """Tries for a lock that another client holds."""

    def run(self):
        while not self.bench.stopping:
            asked = time.perf_counter()
            if self.lock.acquire(blocking=False):
                raise RuntimeError("two holders")
            if self.bench.counting:
                self.latencies.append((time.perf_counter() - asked) * 1e6)


class Bench:
    def __init__(self, words):
        self.words = dict(word.split("=", 1) for word in words)
        self.stopping = self.counting = False
        self.clients = [
            KazooClient(hosts=self.words["servers"], timeout=self.number("timeout", 10_000) / 1000)
            for _ in range(self.number("clients", self.number("sessions", 1)))
        ]
        for client in self.clients:
            client.start()

    def number(self, key, otherwise):
        return int(self.words.get(key, otherwise))

    def path(self, waiter):
        locks = self.number("locks", 1)
        return self.words.get("path", "/bench") + ("/lock" if locks == 1 else f"/lock-{waiter % locks}")

    def client(self, waiter):
        return self.clients[waiter % len(self.clients)]

    def workers(self):
        if self.words.get("task") == "read-write":
            readers = [Worker(self, "reads", ReadLock(self.client(i), self.path(0))) for i in range(self.number("readers", 0))]
            writers = [Worker(self, "writes", WriteLock(self.client(i), self.path(0))) for i in range(self.number("writers", 0))]
            return readers + writers
        if self.words.get("task") == "tries":
            return [Trier(self, "tries", Lock(self.client(1), self.path(1)))]
        locks = [Lock(self.client(i), self.path(i)) for i in range(self.number("waiters", 1))]
        if self.words.get("task") == "turns":
            return [TurnTaker(self, locks)]
        return [Worker(self, "locks", lock) for lock in locks]

    def run(self, ramp, length):
        workers = self.workers()
        self.stopping = False
        holder = Lock(self.client(0), self.path(0)) if self.words.get("task") == "tries" else None
        if holder:
            holder.acquire()
        for worker in workers:
            worker.start()
        time.sleep(ramp)
        print("begin", flush=True)
        cpu, began = time.process_time(), time.perf_counter()
        self.counting = True
        time.sleep(length)
        self.counting = False
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        print("end", flush=True)
        self.stopping = True
        for worker in workers:
            worker.join()
        if holder:
            holder.release()
        workers += [worker.others for worker in workers if isinstance(worker, TurnTaker)]
        answer = {"seconds": seconds, "cpu_seconds": cpu}
        for kind in {worker.kind for worker in workers}:
            latencies = sorted(us for worker in workers if worker.kind == kind for us in worker.latencies)
            answer[kind] = {
                "cycles": len(latencies),
                "p50_us": quantile(latencies, 0.5),
                "p99_us": quantile(latencies, 0.99),
            }
        print(json.dumps(answer), flush=True)


def quantile(ordered, share):
    return ordered[int(share * (len(ordered) - 1))] if ordered else 0


def main():
    bench = Bench(sys.argv[2:])
    print("ready", flush=True)
    for line in sys.stdin:
        _, ramp, length = line.split()
        bench.run(int(ramp) / 1000, int(length) / 1000)
    os._exit(0)  # Kazoo's threads would delay the exit


main()
