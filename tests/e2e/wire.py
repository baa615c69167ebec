"""HTTP/1.1 as bytes, for the end-to-end tests: origins that send exactly what a test wants, and a
client that shows exactly what came back. Waits on sockets with deadlines; never sleeps."""

import socket
import ssl
import subprocess
import threading

DEADLINE_SECONDS = 90  # for what hangs: a busy machine may stop for seconds
HOST = "origin.test"


class Response:
    """A response as its bytes were: `headers` and `trailers` are lists of (name, value)."""

    def __init__(self, status_line, headers):
        self.status_line = status_line
        self.headers = headers
        self.interim = []
        self.body = b""
        self.trailers = []
        self.framing = "none"
        self.cut = False  # ended before its framing said so

    @property
    def version(self):
        return self.status_line.split(b" ")[0]

    @property
    def status(self):
        return int(self.status_line.split(b" ")[1])

    @property
    def reason(self):
        return self.status_line.split(b" ", 2)[2] if self.status_line.count(b" ") > 1 else b""

    def all(self, name):
        return [value for each, value in self.headers if each.lower() == name.lower()]


class Client:
    """Sends what it is told to; reads responses without interpreting more than their framing."""

    def __init__(self, sock):
        self.sock = sock
        self.sock.settimeout(DEADLINE_SECONDS)
        self.held = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.sock.close()

    def send(self, data):
        self.sock.sendall(data)

    def read_some(self, limit=1 << 18):
        """At least one byte, or b"" when the peer has closed."""
        if self.held:
            data, self.held = self.held[:limit], self.held[limit:]
            return data
        try:
            return self.sock.recv(limit)
        except (ConnectionResetError, ssl.SSLEOFError):
            return b""

    def closed_by_peer(self):
        return self.read_some() == b""

    def read_line(self):
        while b"\n" not in self.held:
            data = self.sock.recv(1 << 16)
            if not data:
                raise EOFError(f"closed inside a line: {self.held!r}")
            self.held += data
        line, self.held = self.held.split(b"\n", 1)
        return line.removesuffix(b"\r")

    def read_fields(self):
        fields = []
        while line := self.read_line():
            name, value = line.split(b":", 1)
            fields.append((name, value.strip(b" \t")))
        return fields

    def read_head(self):
        """The next response head, interim ones included."""
        return Response(self.read_line(), self.read_fields())

    def read_response(self, method="GET", sink=None):
        """One final response with its body, which goes to `sink(chunk)` if that is given."""
        interim = []
        while (response := self.read_head()).status < 200:
            interim.append(response)
        response.interim = interim
        pieces = []
        try:
            for piece in self.body_pieces(response, method):
                (sink or pieces.append)(piece)
        except EOFError:
            response.cut = True
        response.body = b"".join(pieces)
        return response

    def body_pieces(self, response, method):
        if method == "HEAD" or response.status in (204, 304):
            return
        coding = b",".join(response.all(b"transfer-encoding")).lower()
        if coding.endswith(b"chunked"):
            response.framing = "chunked"
            while size := int(self.read_line().split(b";")[0], 16):
                yield from self.exactly(size)
                self.read_line()
            response.trailers = self.read_fields()
        elif response.all(b"content-length"):
            response.framing = "length"
            yield from self.exactly(int(response.all(b"content-length")[0]))
        else:
            response.framing = "close"
            while piece := self.read_some():
                yield piece

    def exactly(self, size):
        while size:
            piece = self.read_some(min(size, 1 << 18))
            if not piece:
                raise EOFError("closed inside a body")
            size -= len(piece)
            yield piece

    def get(self, path, host=HOST, method="GET", headers=b"", form="origin"):
        """One request and its response. `form` "absolute" is what an explicit proxy is asked in."""
        target = f"http://{host}{path}" if form == "absolute" else path
        self.send(f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n".encode() + headers + b"\r\n")
        return self.read_response(method)


def parse_response(data, method="GET"):
    """The response in `data`, which must hold exactly one."""
    near, far = socket.socketpair()
    with near, far:
        near.close()
        client = Client(far)
        client.held = data
        parsed = client.read_response(method)
        if client.held:
            raise AssertionError(f"bytes after the response: {client.held[:80]!r}")
        return parsed


class Request:
    """A request as the origin got it."""

    def __init__(self, line, headers, body, trailers):
        self.line = line
        self.method, self.target, self.version = line.decode("latin-1").split(" ")
        self.headers = headers
        self.body = body
        self.trailers = trailers

    def all(self, name):
        return [value for each, value in self.headers if each.lower() == name.lower()]


class Origin:
    """A server that sends exactly what `answer(request)` returns: bytes, or an iterable of bytes.

    The connection stays open after an answer unless the answer ends by raising Close. With `tls`,
    a Certificate, it speaks TLS. `before_body(connection, method, target, headers)` may speak
    before the request's body is read. `requests` lists what was asked, in order of arrival.
    """

    def __init__(self, answer, names=(HOST,), tls=None, before_body=None,
                 timeout_seconds=DEADLINE_SECONDS, address="127.0.0.1", port=0):
        self.answer = answer
        self.address = address
        self.names = names
        self.tls = tls
        self.before_body = before_body
        self.timeout_seconds = timeout_seconds
        self.connection_ended = threading.Event()
        self.requests = []
        self.failures = []
        self.closing = False
        self.listener = socket.create_server((address, port), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.open = set()
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def connect_arguments(self):
        yield from self.connect_to()
        if self.tls:
            yield from ("--origin-ca", str(self.tls.ca_file))

    def connect_to(self):
        for name in self.names:
            yield from ("--connect-to",
                        f"{name}:{443 if self.tls else 80}:{self.address}:{self.port}")

    def connect(self):
        """A client connection without a proxy, for comparing."""
        sock = socket.create_connection((self.address, self.port), DEADLINE_SECONDS)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return Client(sock)

    def close(self):
        """Stops listening and cuts every connection; from here on the origin is off."""
        self.closing = True
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        self.thread.join(DEADLINE_SECONDS)
        for sock in list(self.open):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        self.open.add(sock)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            secure = sock
            if self.tls:
                secure = self.tls.server_context().wrap_socket(sock, server_side=True)
            with secure:
                connection = Client(secure)
                secure.settimeout(self.timeout_seconds)
                try:
                    while self._serve_one(connection):
                        pass
                except Close:
                    if self.tls:
                        secure.unwrap()  # says that this is the end, and no truncation
        except (OSError, EOFError):
            pass
        except Exception as failure:  # shown by the test, which cannot see this thread
            self.failures.append(failure)
        finally:
            self.open.discard(sock)
            self.connection_ended.set()

    def _serve_one(self, connection):
        try:
            line = connection.read_line()
        except EOFError:
            return False
        headers = connection.read_fields()
        if self.before_body:
            self.before_body(connection, line, headers)
        message = Response(b"HTTP/1.1 200 OK", headers)
        has_body = message.all(b"transfer-encoding") or message.all(b"content-length")
        body = b"".join(connection.body_pieces(message, "")) if has_body else b""
        request = Request(line, headers, body, message.trailers)
        self.requests.append(request)
        answer = self.answer(request)
        for piece in [answer] if isinstance(answer, bytes) else answer:
            connection.send(piece)
        return True


class Close(Exception):
    """Raised by an answer to close the connection after what was sent."""


class Certificate:
    """A throwaway CA and one leaf for `names`, in `folder`; the leaf has a comment of `padding`
    bytes."""

    def __init__(self, folder, names=(HOST,), padding=0):
        folder.mkdir(parents=True, exist_ok=True)
        self.ca_file = folder / "ca.pem"
        self.leaf_file = folder / "leaf.pem"
        key = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
               "-days", "2")
        self._openssl(*key, "-keyout", folder / "ca.key", "-out", self.ca_file, "-subj",
                      "/CN=Test origin CA", "-addext", "basicConstraints=critical,CA:TRUE")
        self._openssl(*key, "-CA", self.ca_file, "-CAkey", folder / "ca.key", "-keyout",
                      folder / "leaf.key", "-out", self.leaf_file, "-subj", f"/CN={names[0]}",
                      "-addext", "basicConstraints=critical,CA:FALSE", "-addext",
                      "subjectAltName=" + ",".join(f"DNS:{name}" for name in names),
                      *(("-addext", "nsComment=" + "x" * padding) if padding else ()))

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)

    def server_context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.leaf_file, self.leaf_file.with_suffix(".key"))
        return context


def response(body=b"", status=b"200 OK", headers=b""):
    """A plain response with a length."""
    return (b"HTTP/1.1 " + status + b"\r\n" + headers +
            b"Content-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body)
