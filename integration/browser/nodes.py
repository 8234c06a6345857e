"""Makes nodes for the browser tests, by Kazoo. Commands come as lines of JSON; each is answered by a line of JSON.

Usage: nodes.py CONNECT
  {"do": "locks", "base": "/locks", "number": 5000}        so many locks, each held by this session
  {"do": "node", "path": "/locks/a/lock-", "data": "x:1"}  an ephemeral sequential node and its parents
  {"do": "lock", "path": "/locks/a"}                       acquires Kazoo's Lock, and keeps it
  {"do": "delete", "path": "/locks/a/lock-0000000000"}
  {"do": "read", "path": "/locks/a/lock-0000000000"}       {"data": "x:1", "version": 0, "czxid": "17"}; null: no node
"""
import json
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

client = KazooClient(hosts=sys.argv[1], timeout=10)
client.start()
locks = []


def make_locks(base, number):
    client.ensure_path(base)
    for first in range(0, number, 250):
        transaction = client.transaction()
        for i in range(first, min(first + 250, number)):
            transaction.create(f"{base}/lock-of-{i:04d}-x")
            transaction.create(f"{base}/lock-of-{i:04d}-x/lock-", f"worker-{i % 97}:1".encode(), ephemeral=True, sequence=True)
        failed = [each for each in transaction.commit() if isinstance(each, Exception)]
        if failed:
            raise failed[0]
    return number


def perform(order):
    if order["do"] == "locks":
        return make_locks(order["base"], order["number"])
    if order["do"] == "node":
        return client.create(order["path"], order["data"].encode(), ephemeral=True, sequence=True, makepath=True)
    if order["do"] == "lock":
        locks.append(client.Lock(order["path"], "kazoo"))
        return locks[-1].acquire(timeout=10)
    if order["do"] == "delete":
        return client.delete(order["path"])
    if order["do"] == "read":
        try:
            data, stat = client.get(order["path"])
        except NoNodeError:
            return None
        return {"data": data.decode(), "version": stat.version, "czxid": str(stat.czxid)}
    raise ValueError(order["do"])


print(json.dumps("ready"), flush=True)
for line in sys.stdin:
    print(json.dumps(perform(json.loads(line))), flush=True)
