"""Objects that all differ, and clients that fetch them over several connections at once."""

import hashlib
import random
import threading

from wire import DEADLINE_SECONDS, response

CONNECTIONS = 6


def body_of(number):
    """The object of that number: mostly small, some large, one in fifty above a mebibyte."""
    chance = random.Random(number)
    kind = chance.randrange(50)
    limit = 3 << 20 if kind == 0 else 200 << 10 if kind < 10 else 8 << 10
    return hashlib.shake_256(str(number).encode()).digest(chance.randrange(limit))


def number_of(target):
    return int(target.rsplit("/", 1)[1])


def answer(request):
    """An origin's answer: odd objects have a length, even ones come in chunks."""
    number = number_of(request.target)
    body = body_of(number)
    if number % 2:
        return response(body)
    half = len(body) // 2
    pieces = (piece for piece in (body[:half], body[half:]) if piece)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"".join(
        b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


class Fetchers:
    """CONNECTIONS clients that share out `numbers` and fetch each object through `proxy`.

    `complete` collects the numbers whose last byte has arrived; `wrong` those that arrived with
    other bytes. `on_bytes(total)` is called with the bytes received so far by all. A connection
    that breaks ends its client."""

    def __init__(self, proxy, numbers, on_bytes=lambda total: None):
        self.proxy = proxy
        self.numbers = iter(numbers)
        self.on_bytes = on_bytes
        self.lock = threading.Lock()
        self.total = 0
        self.complete = []
        self.wrong = []
        self.threads = [threading.Thread(target=self._fetch) for _ in range(CONNECTIONS)]
        for thread in self.threads:
            thread.start()

    def join(self):
        for thread in self.threads:
            thread.join(4 * DEADLINE_SECONDS)

    def _next(self):
        with self.lock:
            return next(self.numbers, None)

    def _count(self, piece):
        with self.lock:
            self.total += len(piece)
            self.on_bytes(self.total)

    def _fetch(self):
        try:
            with self.proxy.connect("http") as client:
                while (number := self._next()) is not None:
                    self._fetch_one(client, number)
        except (OSError, EOFError):
            pass

    def _fetch_one(self, client, number):
        pieces = []

        def take(piece):
            pieces.append(piece)
            self._count(piece)
        client.send(b"GET /object/%d HTTP/1.1\r\nHost: origin.test\r\n\r\n" % number)
        got = client.read_response(sink=take)
        if got.cut:
            raise EOFError
        with self.lock:
            self.complete.append(number)
            if b"".join(pieces) != body_of(number):
                self.wrong.append(number)
