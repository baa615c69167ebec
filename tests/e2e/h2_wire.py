"""HTTP/2 as frames, for end-to-end tests that say what no client library would (RFC 9113)."""

import socket
import ssl

from wire import DEADLINE_SECONDS, HOST

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, \
    CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED, WITH_PRIORITY = 0x1, 0x1, 0x4, 0x8, 0x20
MAGIC = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def u16(value):
    return value.to_bytes(2, "big")


def u32(value):
    return value.to_bytes(4, "big")


def frame(kind, flags=0, stream=0, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + u32(stream) + payload


def setting(number, value):
    return u16(number) + u32(value)


def settings(*pairs):
    return frame(SETTINGS, payload=b"".join(setting(*pair) for pair in pairs))


def field(name, value):
    """A literal that is not indexed, without Huffman coding (RFC 7541 section 6.2.2)."""
    name, value = name.encode(), value.encode()
    assert len(name) < 127 and len(value) < 127
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def block(*fields):
    return b"".join(field(*each) for each in fields)


def request(path="/", method="GET"):
    """The pseudo fields of a request."""
    return ((":method", method), (":scheme", "https"), (":authority", HOST), (":path", path))


def head(stream, fields=request(), flags=END_STREAM):
    return frame(HEADERS, flags | END_HEADERS, stream, block(*fields))


class Frame:
    def __init__(self, kind, flags, stream, payload):
        self.kind = kind
        self.flags = flags
        self.stream = stream
        self.payload = payload

    def ends(self, stream):
        return (self.kind in (DATA, HEADERS) and self.stream == stream
                and self.flags & END_STREAM != 0)

    def code(self):
        """The error of a RST_STREAM or GOAWAY."""
        return int.from_bytes(self.payload[-4:] if self.kind == RST_STREAM else self.payload[4:8],
                              "big")


class Client:
    """A client's end of a TLS connection that speaks h2. Reads to the server's deeds; what it
    sends after a goodbye need not arrive."""

    def __init__(self, address):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        plain = socket.create_connection(address, DEADLINE_SECONDS)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = context.wrap_socket(plain, server_hostname=HOST)
        assert self.sock.selected_alpn_protocol() == "h2"
        self.held = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, data):
        try:
            self.sock.sendall(data)
        except (ConnectionError, ssl.SSLError):
            pass

    def _take(self, size):
        while len(self.held) < size:
            try:
                more = self.sock.recv(65536)
            except TimeoutError:
                raise AssertionError("nothing comes") from None
            except (ConnectionError, ssl.SSLError):
                return None
            if not more:
                return None
            self.held += more
        taken, self.held = self.held[:size], self.held[size:]
        return taken

    def next(self):
        """The next frame; None when the server has closed."""
        start = self._take(9)
        if start is None:
            return None
        payload = self._take(int.from_bytes(start[:3], "big"))
        if payload is None:
            return None
        return Frame(start[3], start[4], int.from_bytes(start[5:], "big"), payload)
