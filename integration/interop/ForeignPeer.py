# Kazoo's locks, for the fault campaign. Does what each line of its input says, and answers with one line.

import logging
import os
import sys

from curator_locks import CuratorLock
from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import LockTimeout, NoNodeError
from kazoo.recipe.lock import Lock
from kazoo.retry import KazooRetry

KINDS = {"kazoo": Lock, "curator": CuratorLock}
RETRIES = {"max_tries": -1, "max_delay": 0.2}  # Kazoo's own may sleep for a minute while it is its turn


class Peer:
    def __init__(self, servers, timeout, data):
        self.servers = servers
        self.timeout = int(timeout) / 1000
        self.data = data
        self.connect()

    def connect(self):
        self.client = KazooClient(
            hosts=self.servers, timeout=self.timeout, connection_retry=RETRIES, command_retry=RETRIES
        )
        self.links_lost = 0
        self.client.add_listener(self.note_state)
        self.client.start_async().wait(20)

    def note_state(self, state):
        if state != KazooState.CONNECTED:
            self.links_lost += 1

    def acquire(self, names, path, milliseconds):
        lost_before = self.links_lost
        self.lock = KINDS[names](self.client, path, self.data)
        self.lock._retry = KazooRetry(sleep_func=self.client.handler.sleep_func, **RETRIES)
        try:
            is_granted = self.lock.acquire(timeout=int(milliseconds) / 1000)
        except LockTimeout:
            is_granted = False
        if not is_granted:
            self.leave_nothing()
            # A node that was lost with its link may be made yet; it goes with the session, which ends after a failure.
            return "timed_out" if self.links_lost == lost_before else "failed link_lost"
        self.node = path + "/" + self.lock.node
        stat = self.client.retry(self.client.exists, self.node)
        return f"granted {stat.czxid}" if stat else "failed lost"

    def mark(self):
        """A transaction at which it holds the lock; False when its node is gone."""

        def commit():
            transaction = self.client.transaction()
            transaction.check(self.node, -1)
            transaction.set_data("/marks", b"")
            return transaction.commit()

        return not isinstance(self.client.retry(commit)[0], NoNodeError)

    def release(self):
        self.lock.release()
        self.leave_nothing()
        return True

    def leave_nothing(self):
        """A delete that fails when Kazoo gives up is not tried again. Kazoo does not ask its server to catch up."""
        self.client.retry(self.client.sync, self.lock.path)
        if self.client.retry(self.lock._find_node):
            raise RuntimeError("a node is left")

    def renew(self):
        self.close()
        self.connect()
        return True

    def close(self):
        self.client.stop()
        self.client.close()
        return True

    def obey(self, order, *words):
        try:
            answer = getattr(self, order)(*words)
        except Exception as error:
            return "failed " + type(error).__name__
        return {True: "yes", False: "no"}.get(answer, answer)


def main():
    logging.disable()
    peer = Peer(*sys.argv[1:])
    for line in sys.stdin:
        print(peer.obey(*line.split()), flush=True)
    os._exit(0)  # its end is sudden, as that of a killed process, unless it was told to close


main()
