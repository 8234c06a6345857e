# Kazoo's locks, for kazoo_test.cpp. Does what each line of its input says, and answers with one line.

import logging
import os
import sys
import threading
import time

from curator_locks import CuratorLock, CuratorReadLock, CuratorWriteLock
from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout
from kazoo.recipe.barrier import Barrier, DoubleBarrier
from kazoo.recipe.election import Election
from kazoo.recipe.lock import Lock, ReadLock, Semaphore, WriteLock


class LateEvent(threading.Event):
    """Wakes the waiter only when the client has its next session, as a busy machine may."""

    def __init__(self, client):
        super().__init__()
        self.client = client
        self.before = client.client_id

    def wait(self, timeout=None):
        super().wait(timeout)
        while self.client.client_id in (None, self.before):
            time.sleep(0.001)
        return self.is_set()


KINDS = {
    "lock": Lock,
    "read": ReadLock,
    "write": WriteLock,
    "lock-with-pattern": lambda client, path, name: Lock(client, path, name, extra_lock_patterns=["-lock-"]),
    "read-with-pattern": lambda client, path, name: ReadLock(client, path, name, extra_lock_patterns=["__WRIT__"]),
    "write-with-pattern": lambda client, path, name: WriteLock(
        client, path, name, extra_lock_patterns=["__READ__", "__WRIT__"]
    ),
    "curator-lock": CuratorLock,
    "curator-read": CuratorReadLock,
    "curator-write": CuratorWriteLock,
}


def note(log, word, number):
    """Notes what its process has done."""
    with open(log, "a") as file:
        print(word, os.getpid(), number, file=file)


# With Kazoo's own a counter that others write, too, waits longer after each try: up to an hour.
RETRIES = {"max_tries": -1, "delay": 0.005, "max_delay": 0.005}


class Peer:
    def __init__(self, client):
        self.client = client
        self.locks = {}
        self.elections = {}

    def lock(self, kind, path):
        if (kind, path) not in self.locks:
            self.locks[kind, path] = KINDS[kind](self.client, path, "kazoo")
        return self.locks[kind, path]

    def acquire(self, kind, path, milliseconds):
        try:
            return self.lock(kind, path).acquire(timeout=int(milliseconds) / 1000)
        except LockTimeout:
            return False

    def release(self, kind, path):
        return self.lock(kind, path).release()

    def wake_in_next_session(self, kind, path):
        self.lock(kind, path).wake_event = LateEvent(self.client)
        return True

    def session(self):
        session_id, password = self.client.client_id
        return f"{session_id} {password.hex()}"

    def contenders(self, kind, path):
        return " ".join(name or "-" for name in self.lock(kind, path).contenders())

    def permit(self, path, most):
        return Semaphore(self.client, path, "kazoo", int(most)).acquire(blocking=False)

    def add(self, path, difference):
        counter = self.client.Counter(path, support_curator=True)
        counter += int(difference)
        return str(counter.value)

    def add_often(self, path, difference, times, log):
        """With kazoo's own tries at a version that another client has written meanwhile. It notes each value that it is
        told to have set."""
        counter = self.client.Counter(path, support_curator=True)
        for _ in range(int(times)):
            counter += int(difference)
            note(log, "set", counter.post_value)
        return True

    def close(self, path):
        Barrier(self.client, path).create()
        return True

    def open(self, path):
        return Barrier(self.client, path).remove()

    def pass_barrier(self, path, milliseconds):
        return Barrier(self.client, path).wait(int(milliseconds) / 1000)

    def enter_barrier(self, path, quantity, milliseconds):
        """Kazoo has no limit for it."""
        self.double_barrier = DoubleBarrier(self.client, path, int(quantity))
        self.double_barrier.enter()
        return True

    def leave_barrier(self, path):
        self.double_barrier.leave()
        return True

    def stand(self, path, name):
        """Stands in a thread, and leads until it is told to resign."""
        election = Election(self.client, path, name)
        leads, end = threading.Event(), threading.Event()

        def lead():
            leads.set()
            end.wait()
            leads.clear()

        self.elections[path] = election, leads, end
        threading.Thread(target=election.run, args=(lead,), daemon=True).start()
        return True

    def leads(self, path):
        return self.elections[path][1].is_set()

    def resign(self, path):
        self.elections[path][2].set()
        return True

    def candidates(self, path):
        return " ".join(self.elections[path][0].contenders())

    def revoke(self, node):
        self.client.set(node, b"__REVOKE__")
        return True

    def turns(self, kind, path):
        """A function that calls what it is given when it has its turn: the lock, or the lead. And the lock."""
        if kind == "election":
            election = Election(self.client, path, "kazoo")
            return election.run, election.lock
        lock = KINDS[kind](self.client, path, "kazoo")

        def run(function):
            with lock:
                function()

        return run, lock

    def work(self, kind, path, threads, times, log):
        """Each thread takes that many turns. It notes when it is in, for a moment, and out."""
        failures = []

        def work():
            try:
                run, lock = self.turns(kind, path)

                def note_turn():
                    note(log, "in", lock.node[-10:])
                    time.sleep(0.001)
                    note(log, "out", lock.node[-10:])

                for _ in range(int(times)):
                    run(note_turn)
            except Exception as error:
                failures.append(error)

        workers = [threading.Thread(target=work) for _ in range(int(threads))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return not failures

    def hold(self, kind, path, log):
        run, lock = self.turns(kind, path)
        is_in = threading.Event()

        def stay():
            note(log, "in", lock.node[-10:])
            is_in.set()
            threading.Event().wait()

        threading.Thread(target=run, args=(stay,), daemon=True).start()
        return is_in.wait()

    def obey(self, order, *words):
        try:
            answer = getattr(self, order)(*words)
        except Exception as error:
            return "failed " + type(error).__name__
        return {True: "yes", False: "no"}.get(answer, answer)


def main():
    logging.disable()
    client = KazooClient(hosts=sys.argv[1], timeout=int(sys.argv[2]), command_retry=RETRIES)
    client.start()
    peer = Peer(client)
    for line in sys.stdin:
        print(peer.obey(*line.split()), flush=True)
    client.stop()


main()
