#!/usr/bin/env python3
"""A replay makes no connection. It runs in a network namespace of its own, where loopback is the
way to every address and is watched; its threads are under a seccomp filter.

Needs root or unprivileged user namespaces.
"""

import pathlib
import re
import socket
import struct
import subprocess

import harness
from wire import Certificate, response

OUTSIDE_ADDRESS = "192.0.2.7"  # RFC 5737: documentation
ETH_P_ALL = 3


class Watch:
    """Every packet of this namespace."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
        self.socket.setblocking(False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def sent(self):
        """(protocol, address, port) of each destination that something was sent to since the last
        call. Of TCP only the packets that open a connection count."""
        flows = set()
        while True:
            try:
                frame, (_, _, kind, *_) = self.socket.recvfrom(65536)
            except BlockingIOError:
                return flows
            if kind == socket.PACKET_OUTGOING:
                flow = self._flow(frame)
                if flow:
                    flows.add(flow)

    @staticmethod
    def _flow(frame):
        packet = frame[14:]
        if frame[12:14] != b"\x08\x00":
            return ("not IPv4", frame[12:14].hex(), 0)
        protocol, header = packet[9], 4 * (packet[0] & 15)
        address = socket.inet_ntoa(packet[16:20])
        port = struct.unpack(">H", packet[header + 2:header + 4])[0]
        if protocol == socket.IPPROTO_TCP:
            opens = packet[header + 13] & 0x12 == 0x02
            return ("tcp", address, port) if opens else None
        return ("udp" if protocol == socket.IPPROTO_UDP else str(protocol), address, port)


class NoNetwork(harness.TestCase):
    def setUp(self):
        super().setUp()
        for command in ("link set lo up", "addr replace 192.0.2.1/32 dev lo",
                        "route replace default dev lo"):
            subprocess.run(["ip", *command.split()], check=True)

    def recorded_archive(self):
        archive = self.folder / "a.reprise"
        clear = self.origin(lambda _: response(b"kept"))
        secure = self.origin(lambda _: response(b"kept"), tls=Certificate(self.folder / "tls"))
        recorder = self.record(archive, origins=(clear, secure))
        for way_in in ("http", "https"):
            with recorder.connect(way_in) as client:
                self.assertEqual(client.get("/").body, b"kept")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        clear.close()
        secure.close()
        return archive

    def test_the_watch_sees_what_leaves(self):
        with Watch() as watch:
            with socket.socket() as sock:
                sock.setblocking(False)
                sock.connect_ex((OUTSIDE_ADDRESS, 80))
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
                sock.sendto(b"?", (OUTSIDE_ADDRESS, 53))
            self.assertEqual(watch.sent(),
                             {("tcp", OUTSIDE_ADDRESS, 80), ("udp", OUTSIDE_ADDRESS, 53)})

    def test_hits_and_misses_send_nothing_anywhere(self):
        replay = self.replay(self.recorded_archive())
        listeners = {("tcp", *replay.address(name)) for name in ("http", "https", "proxy")}
        with Watch() as watch:
            for way_in in ("http", "https", "proxy", "connect"):
                for host in (harness.HOST, "never-recorded.test"):
                    for path in ("/", "/never-recorded"):
                        with self.subTest(way_in=way_in, host=host, path=path), \
                             replay.connect(way_in, host=host) as client:
                            got = client.get(path, host=host,
                                             form="absolute" if way_in == "proxy" else "origin")
                            hit = host == harness.HOST and path == "/"
                            self.assertEqual(got.status == 200, hit)
            self.assertEqual(watch.sent(), listeners)
        self.assertEqual(replay.stop(), 0, replay.log())

    def test_every_thread_is_under_a_filter(self):
        replay = self.replay(self.recorded_archive())
        modes = {task.name: re.search(r"Seccomp:\s+(\d)", (task / "status").read_text())[1]
                 for task in pathlib.Path(f"/proc/{replay.pid}/task").iterdir()}
        self.assertEqual(set(modes.values()), {"2"}, modes)


if __name__ == "__main__":
    harness.main_in_namespace("--net")
