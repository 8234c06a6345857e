"""A link between clients and a server that can be cut."""

import contextlib
import socket
import threading


class Proxy:
    """Passes bytes on. Use in a with statement."""

    def __init__(self, server):
        self._server = tuple(server.rsplit(":", 1))
        self._sockets, self._lock = set(), threading.Lock()
        self._port = 0
        self.restore()
        self.address = f"127.0.0.1:{self._port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cut()

    def restore(self):
        """Accepts connections, again."""
        self._listener = socket.create_server(("127.0.0.1", self._port), reuse_port=False)
        self._port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def cut(self):
        """Ends all connections, and accepts none."""
        self._close(self._listener)
        with self._lock:
            sockets, self._sockets = self._sockets, set()
        for each in sockets:
            self._close(each)

    @staticmethod
    def _close(each):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()

    def _accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(self._server)
                for each in (client, server):
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self._lock:
                    self._sockets |= {client, server}
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
