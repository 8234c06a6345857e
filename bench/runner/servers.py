"""The servers that the subjects use, on loopback, in temporary directories, and their counters."""

import os
import shutil
import socket
import subprocess
import tempfile
import time


def cpu_seconds(pids):
    """The CPU seconds that these processes have used so far, their threads included."""
    ticks = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Server:
    """A running server: `address` is for subjects. Use in a with statement."""

    def __init__(self, address, pids, process, directory=None):
        self.address, self.pids, self._process, self._directory = address, pids, process, directory

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.stdin:
            self._process.stdin.close()
        else:
            self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._directory:
            shutil.rmtree(self._directory, ignore_errors=True)

    def cpu_seconds(self):
        return cpu_seconds(self.pids)

    def requests(self):
        """Requests received so far, for ZooKeeper only; the requests of this function are not counted."""
        return None

    def events(self):
        """Events of watches sent so far, for ZooKeeper only."""
        return None


class ZooKeeper(Server):
    _looks = 0

    def requests(self):
        return self.number("zk_packets_received") - self._looks

    def events(self):
        """What is sent without a request. The server counts the requests of this class, and not its replies to them."""
        answer = self.counters()
        return answer["zk_packets_sent"] - (answer["zk_packets_received"] - self._looks)

    def number(self, name):
        """One of the server's counters: zk_ephemerals_count, ..."""
        return self.counters()[name]

    def counters(self):
        self._looks += 1  # the server counts this request, too, before it replies
        with socket.create_connection(tuple(self.address.rsplit(":", 1)), 5) as connection:
            connection.sendall(b"mntr")
            answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        if not answer.startswith("zk_"):
            raise OSError("the server does not serve")
        pairs = (line.split() for line in answer.splitlines())
        return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].lstrip("-").isdigit()}

    def restart(self):
        """A single server."""
        self._order("restart")
        self._looks = 0

    def end_session(self, credentials):
        self._order(f"end {credentials}")

    def _order(self, words):
        self._process.stdin.write(words + "\n")
        self._process.stdin.flush()
        self.pids = [int(pid) for pid in self._process.stdout.readline().split()[1:]]


def start_zookeeper(program, kind, disk):
    """`kind`: "fast" (tmpfs, no fsync), "durable" (a disk, fsync) or "ensemble" (three servers on tmpfs)."""
    place = disk if kind == "durable" or not os.access("/dev/shm", os.W_OK) else "/dev/shm"
    process = subprocess.Popen([program, kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "TMPDIR": str(place)}, start_new_session=True)
    words = process.stdout.readline().split()
    if not words:
        raise RuntimeError(f"the servers '{kind}' did not start")
    return ZooKeeper(words[0], [int(pid) for pid in words[1:]], process)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _temporary():
    return tempfile.mkdtemp(prefix="zklock-bench-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)


def _start(words, address, directory=None, limit=30):
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    server = Server(address, [process.pid], process, directory)
    deadline = time.monotonic() + limit
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if ":" in address:
                socket.create_connection(tuple(address.rsplit(":", 1)), 1).close()
            elif not os.path.exists(address):
                raise OSError("not yet")
            return server
        except OSError:
            time.sleep(0.05)
    server.__exit__()
    raise RuntimeError(f"{words[0]} did not start")


def start_redis():
    port = free_port()
    return _start(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
                  f"127.0.0.1:{port}")


def start_memcached():
    port = free_port()
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    return _start(["memcached", "-p", str(port), "-U", "0", "-l", "127.0.0.1", *user], f"127.0.0.1:{port}")


def start_mariadb():
    directory = _temporary()
    user = []
    if os.geteuid() == 0:
        user = ["--user=mysql"]
        shutil.chown(directory, "mysql")
    data = f"--datadir={directory}/data"
    subprocess.run(["mariadb-install-db", "--no-defaults", data, "--auth-root-authentication-method=normal",
                    "--skip-test-db", *user], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    port = free_port()
    return _start([_mariadbd(), "--no-defaults", data, f"--socket={directory}/socket", f"--port={port}",
                   "--bind-address=127.0.0.1", "--skip-grant-tables", "--skip-networking=0", "--max-connections=1000",
                   *user],
                  f"127.0.0.1:{port}", directory)


def _mariadbd():
    return shutil.which("mariadbd", path=os.environ.get("PATH", "") + ":/usr/sbin") or "mariadbd"


OTHERS = {
    "redis": ("redis-server", start_redis),
    "memcached": ("memcached", start_memcached),
    "mariadb": ("mariadb-install-db", start_mariadb),
}
