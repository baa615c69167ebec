"""WebSocket by hand (RFC 6455), over HTTP/1.1 and as a stream of HTTP/2 (RFC 8441)."""

import base64
import hashlib
import random
import struct

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
CONTINUATION = 0
MASKS = random.Random(1)
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def accept_of(key):
    return base64.b64encode(hashlib.sha1(key + GUID).digest())


def frame(opcode, payload, mask=None, last=True):
    head = bytes([(0x80 if last else 0) | opcode])
    masked = 0x80 if mask else 0
    if len(payload) < 126:
        head += bytes([masked | len(payload)])
    elif len(payload) < 1 << 16:
        head += bytes([masked | 126]) + struct.pack(">H", len(payload))
    else:
        head += bytes([masked | 127]) + struct.pack(">Q", len(payload))
    if not mask:
        return head + payload
    key = int.from_bytes(mask * (len(payload) // 4 + 1), "big") >> (8 * (4 - len(payload) % 4))
    masked_bytes = int.from_bytes(payload, "big") ^ key
    return head + mask + masked_bytes.to_bytes(len(payload), "big")


class Frames:
    """Messages of one side; `read()` gives the next bytes, or b"" at the end."""

    def __init__(self, read):
        self.read = read
        self.held = b""

    def exactly(self, size):
        while len(self.held) < size:
            more = self.read()
            if not more:
                raise EOFError("ended inside a frame" if self.held else "ended")
            self.held += more
        taken, self.held = self.held[:size], self.held[size:]
        return taken

    def frame(self):
        first, second = self.exactly(2)
        length = second & 127
        if length == 126:
            length, = struct.unpack(">H", self.exactly(2))
        elif length == 127:
            length, = struct.unpack(">Q", self.exactly(8))
        mask = self.exactly(4) if second & 0x80 else None
        payload = self.exactly(length)
        if mask:
            payload = frame(0, payload, mask)[-length:] if length else b""
        return first & 15, bool(first & 0x80), payload

    def message(self):
        """The next message or control frame: (opcode, payload)."""
        kind, pieces = None, []
        while True:
            opcode, last, payload = self.frame()
            if opcode >= CLOSE:
                return opcode, payload
            kind = kind or opcode
            pieces.append(payload)
            if last:
                return kind, b"".join(pieces)


class H1WebSocket:
    """A client over a wire.Client that is connected to the host."""

    def __init__(self, client, host, path, protocol=b"chat", headers=b""):
        self.client = client
        key = base64.b64encode(MASKS.randbytes(16))
        client.send(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: " + host.encode() +
                    b"\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
                    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key +
                    b"\r\nSec-WebSocket-Protocol: other, " + protocol +
                    b"\r\nSec-WebSocket-Extensions: permessage-deflate\r\n" + headers + b"\r\n")
        self.head = client.read_head()
        if self.head.status == 101:
            assert self.head.all(b"sec-websocket-accept") == [accept_of(key)], self.head.headers
        self.frames = Frames(client.read_some)

    def send(self, opcode, payload, last=True):
        self.client.send(frame(opcode, payload, MASKS.randbytes(4), last))

    def message(self):
        return self.frames.message()

    def ended(self):
        return self.client.closed_by_peer()


DATA, HEADERS, RST_STREAM, SETTINGS, PING_FRAME, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
ENABLE_CONNECT_PROTOCOL = 8
STATUS_200 = 0x88  # RFC 7541 appendix A


class H2WebSocket:
    """The same on a stream of an HTTP/2 connection of its own, on a socket whose ALPN was h2.

    `asks_first`: another request goes first, and the WebSocket waits until it is offered."""

    def __init__(self, sock, host, path, protocol=b"chat", asks_first=False):
        self.sock = sock
        self.held = b""
        self.data = b""
        self.over = False
        self.status = None
        self.settings = {}
        self.sent_bytes = 0
        self.stream = 3 if asks_first else 1
        self.windows = {0: 65535, self.stream: 65535}
        sock.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self._frame(SETTINGS, 0, 0, b""))
        while not self.settings:
            self._take_frame()
        target = [(b":scheme", b"https"), (b":authority", host.encode())]
        if asks_first:
            self._ask(1, END_STREAM, [(b":method", b"GET"), (b":path", b"/first"), *target])
            while self.settings.get(ENABLE_CONNECT_PROTOCOL) != 1:
                self._take_frame()
        self._ask(self.stream, 0,
                  [(b":method", b"CONNECT"), (b":protocol", b"websocket"), *target,
                   (b":path", path.encode()), (b"sec-websocket-version", b"13"),
                   (b"sec-websocket-protocol", protocol)])
        while self.status is None and not self.over:
            self._take_frame()
        self.frames = Frames(self._read)

    def _ask(self, stream, flags, fields):
        # Literals, neither indexed nor Huffman coded (RFC 7541 section 6.2.2).
        block = b"".join(b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value
                         for name, value in fields)
        self.sock.sendall(self._frame(HEADERS, END_HEADERS | flags, stream, block))

    @staticmethod
    def _frame(kind, flags, stream, payload):
        return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(
            ">I", stream) + payload

    def _exactly(self, size):
        while len(self.held) < size:
            more = self.sock.recv(1 << 16)
            if not more:
                raise EOFError("the connection ended")
            self.held += more
        taken, self.held = self.held[:size], self.held[size:]
        return taken

    def _take_frame(self):
        head = self._exactly(9)
        size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        stream = int.from_bytes(head[5:], "big")
        payload = self._exactly(size)
        if kind == SETTINGS and not flags & ACK:
            for at in range(0, size, 6):
                number, value = struct.unpack(">HI", payload[at:at + 6])
                self.settings[number] = value
            self.windows[self.stream] = self.settings.get(4, 65535) - self.sent_bytes
            self.sock.sendall(self._frame(SETTINGS, ACK, 0, b""))
        elif kind == PING_FRAME and not flags & ACK:
            self.sock.sendall(self._frame(PING_FRAME, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            self.windows[stream] = self.windows.get(stream, 0) + int.from_bytes(payload, "big")
        elif kind == HEADERS and stream == self.stream:
            self.status = 200 if payload[0] == STATUS_200 else payload
        elif kind == DATA and size:
            if stream == self.stream:
                self.data += payload
            for of in (0, stream):
                self.sock.sendall(self._frame(WINDOW_UPDATE, 0, of, struct.pack(">I", size)))
        elif kind == GOAWAY or (kind == RST_STREAM and stream == self.stream):
            self.over = True
        if kind in (DATA, HEADERS) and flags & END_STREAM and stream == self.stream:
            self.over = True

    def _read(self):
        while not self.data and not self.over:
            self._take_frame()
        taken, self.data = self.data, b""
        return taken

    def send(self, opcode, payload, last=True):
        rest = frame(opcode, payload, MASKS.randbytes(4), last)
        while rest:
            size = min(len(rest), 16384, *(self.windows[each] for each in (0, self.stream)))
            if size == 0:
                self._take_frame()
                continue
            self.sock.sendall(self._frame(DATA, 0, self.stream, rest[:size]))
            rest = rest[size:]
            self.sent_bytes += size
            for each in (0, self.stream):
                self.windows[each] -= size

    def message(self):
        return self.frames.message()

    def ended(self):
        return self._read() == b""
