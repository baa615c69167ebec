"""A company's proxy, for the end-to-end tests: HTTP (CONNECT and forwarded requests) with Basic
authentication, and SOCKS5 with user and password (RFC 1928, RFC 1929)."""

import base64
import socket
import threading

from wire import DEADLINE_SECONDS, Client

USER, PASSWORD = "jane", "s3cret:pass"


class CorporateProxy:
    """Knows the `origins` (wire.Origin) by their names, and nobody else does. `asked` lists what it
    let through: ("connect"|"forward"|"socks", host, port). `refused` counts the others."""

    def __init__(self, origins):
        self.origins = {(name, 443 if origin.tls else 80): origin
                        for origin in origins for name in origin.names}
        self.asked = []
        self.refused = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.place = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def url(self, scheme="http", user=USER, password=PASSWORD):
        return f"{scheme}://{user}:{password.replace(':', '%3A')}@{self.place}"

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        client = Client(sock)
        try:
            client.held = client.read_some(1 << 16)
            if client.held[:1] == b"\x05":
                self._socks(client)
            else:
                self._http(client)
        except (OSError, EOFError):
            pass
        finally:
            sock.close()

    def _reach(self, how, host, port):
        origin = self.origins.get((host, port))
        if origin is None:
            self.refused += 1
            return None
        self.asked.append((how, host, port))
        return socket.create_connection((origin.address, origin.port), DEADLINE_SECONDS)

    def _http(self, client):
        while client.held or (some := client.read_some()):
            client.held = client.held or some
            line, fields = client.read_line(), client.read_fields()
            method, target, _ = line.decode().split(" ")
            words = base64.b64encode(f"{USER}:{PASSWORD}".encode())
            given = [value for name, value in fields if name.lower() == b"proxy-authorization"]
            if given != [b"Basic " + words]:
                self.refused += 1
                client.send(b"HTTP/1.1 407 Who are you\r\nProxy-Authenticate: Basic realm=x\r\n"
                            b"Content-Length: 0\r\nConnection: close\r\n\r\n")
                return
            if method == "CONNECT":
                host, port = target.rsplit(":", 1)
                origin = self._reach("connect", host, int(port))
                if origin is None:
                    client.send(b"HTTP/1.1 403 Not allowed\r\nContent-Length: 0\r\n\r\n")
                    return
                client.send(b"HTTP/1.1 200 Connected\r\n\r\n")
                join(client, origin)
                return
            host, _, path = target.removeprefix("http://").partition("/")
            origin = self._reach("forward", host, 80)
            if origin is None:
                client.send(b"HTTP/1.1 403 Not allowed\r\nContent-Length: 0\r\n\r\n")
                return
            with Client(origin) as there:
                kept = b"".join(name + b": " + value + b"\r\n" for name, value in fields
                                if name.lower() not in (b"proxy-authorization", b"connection"))
                there.send(f"{method} /{path} HTTP/1.1\r\n".encode() + kept +
                           b"Connection: close\r\n\r\n")
                got = there.read_response(method)
            client.send(got.status_line + b"\r\n" +
                        b"".join(name + b": " + value + b"\r\n" for name, value in got.headers) +
                        b"\r\n" + got.body)

    def _socks(self, client):
        def exactly(size):
            return b"".join(client.exactly(size))

        _, count = exactly(2)
        if 2 not in exactly(count):
            self.refused += 1
            client.send(b"\x05\xff")
            return
        client.send(b"\x05\x02")
        _, size = exactly(2)
        user = exactly(size)
        password = exactly(exactly(1)[0])
        if (user, password) != (USER.encode(), PASSWORD.encode()):
            self.refused += 1
            client.send(b"\x01\x01")
            return
        client.send(b"\x01\x00")
        _, command, _, kind = exactly(4)
        host = exactly(exactly(1)[0]).decode() if kind == 3 else socket.inet_ntoa(exactly(4))
        port = int.from_bytes(exactly(2), "big")
        origin = self._reach("socks", host, port) if command == 1 else None
        if origin is None:
            client.send(b"\x05\x02\x00\x01" + bytes(6))
            return
        client.send(b"\x05\x00\x00\x01" + bytes(6))
        join(client, origin)


def join(client, origin):
    """Passes bytes on in both directions until one side ends."""
    def pass_on(read, write, end):
        try:
            while data := read():
                write(data)
            end()
        except OSError:
            pass

    other = threading.Thread(
        target=pass_on, daemon=True,
        args=(lambda: origin.recv(1 << 16), client.send,
              lambda: client.sock.shutdown(socket.SHUT_WR)))
    other.start()
    pass_on(client.read_some, origin.sendall, lambda: origin.shutdown(socket.SHUT_WR))
    other.join(DEADLINE_SECONDS)
    origin.close()
