"""A client that sends the requests of an archive again, field by field: HTTP/1.1, or HTTP/2 where
that is negotiated. Of responses it takes only the end: what came is in the archive of who recorded.
"""

import socket
import ssl
import struct
import urllib.parse

from wire import DEADLINE_SECONDS, Client

# They belong to a connection, and HTTP/2 has none of them (RFC 9113 section 8.2.2).
OF_A_CONNECTION = {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"}

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = (
    0, 1, 3, 4, 6, 7, 8, 9)
ACK = END_STREAM = 1
END_HEADERS = 4
WINDOW = (1 << 31) - 1


class Request:
    """One request of an archive, as `archive show --json` tells it."""

    def __init__(self, shown, body):
        self.method = shown["method"]
        self.target = shown["target"]
        self.fields = [(name, value) for name, value in shown["headers"]]
        self.body = body
        url = urllib.parse.urlsplit(shown["url"].replace(" ", ""))
        self.scheme, self.host = url.scheme, url.hostname
        self.port = url.port or (443 if url.scheme == "https" else 80)
        self.authority = url.netloc

    def place(self):
        return self.scheme, self.host, self.port

    def has(self, name):
        return any(each.lower() == name for each, _ in self.fields)

    def with_length(self, fields):
        """`fields` with the length of the body as it will be sent."""
        size = str(len(self.body))
        if any(name.lower() == "content-length" for name, _ in fields):
            return [(name, size if name.lower() == "content-length" else value)
                    for name, value in fields]
        return fields + [("Content-Length", size)] if self.body else fields


class Http1:
    def __init__(self, sock):
        self.client = Client(sock)

    def ask(self, request):
        # What some recordings say was written by hand, and is not where the URL leads.
        fields = [(name, request.authority if name.lower() == "host" else value)
                  for name, value in request.fields]
        if not request.has("host"):
            fields = [("Host", request.authority), *fields]
        chunked = any(name.lower() == "transfer-encoding" and "chunked" in value.lower()
                      for name, value in fields)
        if not chunked:
            fields = request.with_length(fields)
        head = f"{request.method} {request.target} HTTP/1.1\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in fields) + "\r\n"
        body = request.body
        if chunked:
            body = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + b"0\r\n\r\n"
        self.client.send(head.encode() + body)
        response = self.client.read_response(request.method, sink=lambda piece: None)
        ends = response.framing == "close" or any(
            b"close" in value.lower() for value in response.all(b"connection"))
        if response.cut or ends:
            self.client.close()
        return not (response.cut or ends)


def literal(text, length_bits=7, first=0):
    """A string or number as HPACK has them (RFC 7541 section 5), never Huffman-coded."""
    data = text.encode() if isinstance(text, str) else text
    return number(len(data), length_bits, first) + data


def number(value, bits, first=0):
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    out = [first | most]
    value -= most
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


class Http2:
    """RFC 9113, one stream at a time."""

    def __init__(self, sock):
        self.sock = sock
        self.client = Client(sock)
        self.stream = -1
        self.window = self.stream_window = self.first_window = 65535
        self.client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        # No pushes, and windows that never fill.
        self.send(SETTINGS, 0, 0, struct.pack(">HIHI", 2, 0, 4, WINDOW))
        self.send(WINDOW_UPDATE, 0, 0, struct.pack(">I", WINDOW - 65535))

    def send(self, kind, flags, stream, payload):
        self.client.send(struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) +
                         struct.pack(">I", stream) + payload)

    def ask(self, request):
        self.stream += 2
        self.stream_window = self.first_window
        fields = [(":method", request.method), (":scheme", request.scheme),
                  (":authority", request.authority), (":path", request.target)]
        fields += [(name.lower(), value) for name, value in request.with_length(request.fields)
                   if name.lower() not in OF_A_CONNECTION | {"host"}]
        block = b"".join(b"\x10" + literal(name) + literal(value) for name, value in fields)
        end = 0 if request.body else END_STREAM
        pieces = [block[at:at + 16384] for at in range(0, len(block), 16384)]
        for at, piece in enumerate(pieces):
            last = END_HEADERS if at == len(pieces) - 1 else 0
            kind, flags = (CONTINUATION, last) if at else (HEADERS, last | end)
            self.send(kind, flags, self.stream, piece)
        left = request.body
        while left:
            size = min(len(left), 16384, self.window, self.stream_window)
            if size <= 0:
                if not self.take_frame():
                    return False
                continue
            self.window -= size
            self.stream_window -= size
            self.send(DATA, END_STREAM if size == len(left) else 0, self.stream, left[:size])
            left = left[size:]
        while True:
            frame = self.take_frame()
            if not frame:
                return False
            kind, flags, stream = frame
            if stream == self.stream and (kind == RST_STREAM or
                                          (kind in (DATA, HEADERS) and flags & END_STREAM)):
                return True

    def take_frame(self):
        """(kind, flags, stream) of the next frame, or nothing when the connection is over."""
        try:
            head = b"".join(self.client.exactly(9))
            payload = b"".join(self.client.exactly(int.from_bytes(head[:3], "big")))
        except EOFError:
            return None
        kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big") & WINDOW
        if kind == GOAWAY:
            return None
        if kind == SETTINGS and not flags & ACK:
            for at in range(0, len(payload), 6):
                name, value = struct.unpack(">HI", payload[at:at + 6])
                if name == 4:
                    self.stream_window += value - self.first_window
                    self.first_window = value
            self.send(SETTINGS, ACK, 0, b"")
        elif kind == PING and not flags & ACK:
            self.send(PING, ACK, 0, payload)
        elif kind == WINDOW_UPDATE:
            more = int.from_bytes(payload, "big") & WINDOW
            if stream == 0:
                self.window += more
            else:
                self.stream_window += more
        elif kind == DATA and payload:
            self.send(WINDOW_UPDATE, 0, 0, struct.pack(">I", len(payload)))
        return kind, flags, stream


class Walker:
    """Sends requests through a proxy's transparent listeners, a connection a host."""

    def __init__(self, http, https, ca_file):
        self.listeners = {"http": http, "https": https}
        self.context = ssl.create_default_context(cafile=ca_file)
        self.context.set_alpn_protocols(["h2", "http/1.1"])
        self.open = {}

    def connect(self, scheme, host):
        sock = socket.create_connection(self.listeners[scheme], DEADLINE_SECONDS)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if scheme == "http":
            return Http1(sock)
        sock = self.context.wrap_socket(sock, server_hostname=host)
        return Http2(sock) if sock.selected_alpn_protocol() == "h2" else Http1(sock)

    def ask(self, request):
        place = request.place()
        connection = self.open.pop(place, None) or self.connect(request.scheme, request.host)
        if connection.ask(request):
            self.open[place] = connection

    def close(self):
        for connection in self.open.values():
            connection.client.close()
        self.open = {}
