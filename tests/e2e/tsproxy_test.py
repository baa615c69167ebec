#!/usr/bin/env python3
"""The binary as `tsproxy`: the command line, the lines and the commands that Telemetry's
ts_proxy_server and crossbench use, in their order. Lower bounds of time alone."""

import contextlib
import fcntl
import os
import re
import select
import socket
import ssl
import struct
import subprocess
import termios
import time

import harness
from wire import DEADLINE_SECONDS, HOST, Certificate, Client, response

RTT_S = 0.3
LARGE = bytes(range(256)) * 400
SMALL_BUFFER_BYTES = 16384
ENDLESS = bytes(16 << 20)  # more than all sockets hold unread
UNREAD_SECONDS = 10  # less than DeliveryWait::kPatience


class Tsproxy:
    """A running tsproxy, used as ts_proxy_server does."""

    def __init__(self, folder, *arguments):
        program = folder / "tsproxy"
        if not program.exists():
            program.symlink_to(os.path.realpath(harness.REPRISE))
        self.process = subprocess.Popen([program, *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        bufsize=0)  # or select() does not see a second line
        started = re.match(r"Started Socks5 proxy server on ([^:]*):(\d+)", self.line())
        self.address = (started[1], int(started[2]))
        assert self.line() == "Hit Ctrl-C to exit."

    def line(self):
        assert select.select([self.process.stdout], [], [], DEADLINE_SECONDS)[0], "no line"
        return self.process.stdout.readline().decode().strip()

    def command(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        return self.line()

    def close(self):
        with self.process:
            self.process.kill()


class Sequence(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.clear = self.origin(self.answer)
        self.secure = self.origin(self.answer, tls=Certificate(self.folder / "tls"))

    def answer(self, request):
        if request.target == "/large":
            return response(LARGE)
        return response(str(len(request.body)).encode())

    def tsproxy(self, *arguments):
        started = Tsproxy(self.folder, *arguments)
        self.addCleanup(started.close)
        return started

    def led_here(self):
        """As Telemetry starts it."""
        return self.tsproxy("--port=0", f"--desthost={self.clear.address}",
                            f"--mapports=443:{self.secure.port},*:{self.clear.port}")

    def connect(self, tsproxy, host=HOST, port=80, receive_bytes=None):
        """The reply of the proxy, and the connection."""
        sock = socket.socket()
        self.addCleanup(sock.close)
        sock.settimeout(DEADLINE_SECONDS)
        if receive_bytes:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        sock.connect(tsproxy.address)
        sock.sendall(b"\5\1\0")
        self.assertEqual(sock.recv(2), b"\5\0")
        name = host.encode()
        sock.sendall(b"\5\1\0\3" + bytes([len(name)]) + name + port.to_bytes(2, "big"))
        reply = sock.recv(10, socket.MSG_WAITALL)
        self.assertEqual((len(reply), reply[0]), (10, 5))
        return reply[1], sock

    def test_every_port_goes_where_it_is_led(self):
        tsproxy = self.led_here()
        for port in (80, 8080):
            code, sock = self.connect(tsproxy, port=port)
            self.assertEqual(code, 0)
            self.assertEqual(Client(sock).get("/large").body, LARGE)
        _, sock = self.connect(tsproxy, port=443)
        context = ssl.create_default_context(cafile=self.secure.tls.ca_file)
        secure = context.wrap_socket(sock, server_hostname=HOST)
        self.addCleanup(secure.close)
        self.assertEqual(Client(secure).get("/").body, b"0")

    def test_the_settings_are_commands_with_answers(self):
        tsproxy = self.led_here()
        for text, answer in (("set rtt 40", "OK"), ("set inkbps 5000.0", "OK"),
                             ("set outkbps 1000", "OK"), ("set rtt fast", "ERROR"),
                             ("jump", "ERROR"), ("flush", "OK"), ("reset all", "OK")):
            self.assertEqual(tsproxy.command(text), answer, text)
        other = self.origin(lambda _: response(b"other"))
        self.assertEqual(tsproxy.command(f"set mapports 443:1,*:{other.port}"), "OK")
        _, sock = self.connect(tsproxy)
        self.assertEqual(Client(sock).get("/").body, b"other")

    def test_a_reset_does_not_become_an_end(self):
        with socket.create_server(("127.0.0.1", 0)) as origin:
            origin.settimeout(DEADLINE_SECONDS)
            port = origin.getsockname()[1]
            for link in ((), ("--rtt=10",)):
                tsproxy = self.tsproxy("--port=0", "--desthost=127.0.0.1", f"--mapports=*:{port}",
                                       *link)
                _, sock = self.connect(tsproxy)
                sock.settimeout(DEADLINE_SECONDS)
                answering, _ = origin.accept()
                answering.sendall(b"half")
                self.assertEqual(sock.recv(4, socket.MSG_WAITALL), b"half")
                answering.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                answering.close()
                with self.assertRaises(ConnectionResetError):
                    sock.recv(1)

    def early_answer(self, sock, origin):
        """What a client receives that is answered, and then reset, during its upload."""
        sock.sendall(b"upload")
        answering, _ = origin.accept()
        self.assertEqual(answering.recv(1), b"u")
        answering.sendall(LARGE)
        while any(fcntl.ioctl(answering, termios.TIOCOUTQ, bytes(4))):
            os.sched_yield()
        answering.close()  # a reset, because bytes are unread
        # Before the client reads: the proxy finds the reset while it has to deliver the answer.
        sock.settimeout(UNREAD_SECONDS)
        with contextlib.suppress(TimeoutError):
            sock.sendall(ENDLESS)
        sock.settimeout(DEADLINE_SECONDS)
        received = bytearray()
        with self.assertRaises(ConnectionResetError):
            while part := sock.recv(65536):
                received += part
        return bytes(received)

    def test_an_answer_arrives_before_the_reset_of_its_server(self):
        with socket.create_server(("127.0.0.1", 0)) as origin:
            origin.settimeout(DEADLINE_SECONDS)
            port = origin.getsockname()[1]
            for link in ((), ("--rtt=10",)):
                tsproxy = self.tsproxy("--port=0", "--desthost=127.0.0.1", f"--mapports=*:{port}",
                                       *link)
                code, sock = self.connect(tsproxy, receive_bytes=SMALL_BUFFER_BYTES)
                self.assertEqual(code, 0)
                self.assertTrue(self.early_answer(sock, origin) == LARGE, link)

    def first_byte(self, tsproxy):
        began = time.monotonic()
        _, sock = self.connect(tsproxy)
        self.assertEqual(Client(sock).get("/").body, b"0")
        return time.monotonic() - began

    def test_an_answer_takes_the_round_trips_of_the_link(self):
        """One for the handshake, one for the answer."""
        tsproxy = self.led_here()
        self.assertEqual(tsproxy.command(f"set rtt {RTT_S * 1000:g}"), "OK")
        self.assertGreaterEqual(self.first_byte(tsproxy), 2 * RTT_S)

    def test_a_rate_limits_each_direction(self):
        tsproxy = self.led_here()
        self.assertEqual(tsproxy.command("set inkbps 1000"), "OK")
        began = time.monotonic()
        _, sock = self.connect(tsproxy)
        self.assertEqual(Client(sock).get("/large").body, LARGE)
        self.assertGreaterEqual(time.monotonic() - began, 0.9 * len(LARGE) * 8 / 1e6)
        self.assertEqual(tsproxy.command("reset inkbps"), "OK")
        self.assertEqual(tsproxy.command("set outkbps 1000"), "OK")
        began = time.monotonic()
        _, sock = self.connect(tsproxy)
        sock.sendall(b"POST / HTTP/1.1\r\nHost: origin.test\r\nContent-Length: %d\r\n\r\n"
                     % len(LARGE) + LARGE)
        self.assertEqual(Client(sock).read_response().body, str(len(LARGE)).encode())
        self.assertGreaterEqual(time.monotonic() - began, 0.9 * len(LARGE) * 8 / 1e6)

    def test_open_connections_keep_their_link(self):
        tsproxy = self.led_here()
        self.assertEqual(tsproxy.command("set rtt 10"), "OK")
        _, sock = self.connect(tsproxy)
        self.assertEqual(tsproxy.command("set rtt 20"), "OK")
        self.assertEqual(Client(sock).get("/large").body, LARGE)

    def test_localhost_is_not_led_elsewhere_unless_told_to(self):
        local = self.origin(lambda _: response(b"local"))
        tsproxy = self.tsproxy("--port", "0", "-d", "127.0.0.9", "-m", "*:1")
        _, sock = self.connect(tsproxy, "localhost", local.port)
        self.assertEqual(Client(sock).get("/").body, b"local")
        tsproxy = self.tsproxy("-p0", "--localhost", "-m", f"*:{self.clear.port}")
        _, sock = self.connect(tsproxy, "127.0.0.1", 1)
        self.assertEqual(Client(sock).get("/").body, b"0")

    def test_a_destination_that_refuses_is_unreachable(self):
        tsproxy = self.tsproxy("--port=0", "--rtt=10")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        code, sock = self.connect(tsproxy, "127.0.0.1", port)
        self.assertEqual((code, sock.recv(1)), (4, b""))

    def test_what_is_not_socks5_is_closed(self):
        tsproxy = self.led_here()
        with socket.create_connection(tsproxy.address, DEADLINE_SECONDS) as sock:
            sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
            self.assertEqual(sock.recv(1), b"")
        with socket.create_connection(tsproxy.address, DEADLINE_SECONDS) as sock:
            sock.sendall(b"\5\1\2")  # a password
            self.assertEqual(sock.recv(2), b"\5\xff")

    def test_it_ends_with_exit_and_with_a_signal(self):
        tsproxy = self.led_here()
        self.assertEqual(tsproxy.command("exit"), "OK")
        self.assertEqual(tsproxy.process.wait(DEADLINE_SECONDS), 0)
        tsproxy = self.led_here()
        tsproxy.process.stdin.close()  # commands end, the proxy does not
        code, _ = self.connect(tsproxy)
        self.assertEqual(code, 0)
        tsproxy.process.send_signal(2)
        self.assertEqual(tsproxy.process.wait(DEADLINE_SECONDS), 0)

    def test_a_busy_port_is_said_on_stdout(self):
        with socket.create_server(("127.0.0.1", 0)) as busy:
            done = harness.run("tsproxy", "--port", str(busy.getsockname()[1]))
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.startswith(b"Unable to listen on localhost:"), done.stdout)


if __name__ == "__main__":
    harness.main()
