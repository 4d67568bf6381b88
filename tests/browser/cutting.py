"""A wire between browser and server that is cut now and then: a TCP proxy that drops streams in the middle."""

from __future__ import annotations

import random
import socket
import threading


class Wire:
    """Listens on a free port and passes everything on to `port`. `cut` drops one stream that is open."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.cuts = 0
        self._streams: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()
        while self.cut(random.Random(1)):
            pass

    def cut(self, chance: random.Random) -> bool:
        """Drop one stream at random: both ends, at once, whatever is on its way. Answers whether there was one."""
        with self._lock:
            if not self._streams:
                return False
            pair = self._streams.pop(chance.randrange(len(self._streams)))
            self.cuts += 1
        for end in pair:
            _drop(end)
        return True

    def _accept(self) -> None:
        while True:
            try:
                here, _ = self._listener.accept()
            except OSError:
                return
            there = socket.create_connection(("127.0.0.1", self._to))
            for ends in ((here, there), (there, here)):
                threading.Thread(target=self._pass, args=(*ends, here, there), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, here: socket.socket, there: socket.socket) -> None:
        pair = (here, there)
        try:
            while data := source.recv(65536):
                if source is here:
                    self._note(pair, data.startswith(b"GET /live"))
                target.sendall(data)
        except OSError:
            pass
        self._note(pair, False)
        for end in pair:
            _drop(end)

    def _note(self, pair: tuple[socket.socket, socket.socket], stream: bool) -> None:
        with self._lock:
            if pair in self._streams and not stream:
                self._streams.remove(pair)
            elif stream and pair not in self._streams:
                self._streams.append(pair)


def _drop(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()
