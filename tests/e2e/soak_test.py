#!/usr/bin/env python3
"""Requests over HTTP/1.1 and HTTP/2 beside WebSockets and clients that break off anywhere: none of
the requests fails, and a sanitizer has nothing to say.

usage: soak_test.py                            run as a test, with few requests
       soak_test.py --figure PRESET [COUNT]    2,000,000 requests to the binary of that preset
                                               (asan, tsan), which is built first
REPRISE_TEST_SEED chooses where clients break off: see tests/test_seed.py.
"""

import random
import re
import socket
import ssl
import struct
import subprocess
import sys
import threading

import figure
import harness
from h2_test import Nginx
from test_seed import TEST_SEED
from web_socket_test import TOLD, ChatOrigin, converse
from web_socket_wire import H1WebSocket, H2WebSocket
from wire import DEADLINE_SECONDS, HOST, Certificate

CHAT = "chat.test"
CLIENTS = 20
TALK_EVERY = 20  # clients that break off
BROKE_OFF_MIN, TALKS_MIN = 60, 3
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"
H1_REQUEST = f"GET /small HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()
COMPLAINTS = re.compile(r"(ERROR|WARNING|SUMMARY): \w*Sanitizer|runtime error:|broken invariant")


class Soak(harness.TestCase):
    def replayed(self):
        archive = self.folder / "a.reprise"
        nginx = Nginx(self.folder / "site")
        self.addCleanup(nginx.close)
        chat = ChatOrigin()
        talker = self.origin(chat.answer, names=(CHAT,), before_body=chat.before_body,
                             tls=Certificate(self.folder / "chat-tls", (CHAT,)))
        both = self.folder / "both.pem"
        both.write_text(nginx.certificate.ca_file.read_text() + talker.tls.ca_file.read_text())
        recorder = self.record(archive, *list(nginx.connect_arguments())[:2], *talker.connect_to(),
                               "--origin-ca", str(both))
        subprocess.run(["curl", "-sSf", "--http2", "--cacert", recorder.ca_file, "--connect-to",
                        "::" + recorder.ready["https"], f"https://{HOST}/small"], check=True,
                       capture_output=True)
        with recorder.connect("https", CHAT) as client:
            converse(H1WebSocket(client, CHAT, "/socket"))
        self.assertEqual(recorder.stop(), 0, recorder.log())
        nginx.close()
        return self.replay(archive, "--threads", "2", "--protocol", "h2")

    def connect(self, replay, alpn, host=HOST):
        context = ssl.create_default_context(cafile=replay.ca_file)
        context.set_alpn_protocols([alpn])
        plain = socket.create_connection(replay.address("https"), DEADLINE_SECONDS)
        return context.wrap_socket(plain, server_hostname=host)

    def break_off(self, replay, dice):
        """A client that is gone at some byte of a request, of an answer or of a conversation."""
        alpn = dice.choice(("http/1.1", "h2"))
        with self.connect(replay, alpn) as client:
            sent = PREFACE if alpn == "h2" else H1_REQUEST * dice.randint(1, 20)
            client.sendall(sent[:dice.randint(0, len(sent))])
            if dice.random() < 0.5 and sent is not PREFACE:
                client.settimeout(0.01)
                try:
                    client.recv(dice.randint(1, 20_000))
                except TimeoutError:
                    pass
            if dice.random() < 0.5:  # a reset instead of an end
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def talk(self, replay, dice):
        """A WebSocket over either version, to its end or broken off."""
        whole = dice.random() < 0.5
        if dice.random() < 0.5:
            with replay.connect("https", CHAT) as client:
                opened = H1WebSocket(client, CHAT, "/socket")
                return converse(opened)[0] == TOLD if whole else opened.message() is not None
        with self.connect(replay, "h2", CHAT) as sock:
            opened = H2WebSocket(sock, CHAT, "/socket")
            return converse(opened)[0] == TOLD if whole else opened.message() is not None

    def soak(self, count):
        """Returns (failed requests, clients that broke off, conversations, those gone wrong)."""
        replay = self.replayed()
        dice = random.Random(TEST_SEED)
        over = threading.Event()
        done = {"broke_off": 0, "talks": 0, "wrong_talks": 0}
        faults = []

        def disturb():
            try:
                while (not over.is_set() or done["broke_off"] < BROKE_OFF_MIN
                       or done["talks"] < TALKS_MIN):
                    disturb_once()
            except Exception as fault:  # raised by the test, which cannot see this thread
                faults.append(fault)

        def disturb_once():
            self.break_off(replay, dice)
            done["broke_off"] += 1
            if done["broke_off"] % TALK_EVERY == 0:
                done["talks"] += 1
                try:
                    done["wrong_talks"] += not self.talk(replay, dice)
                except (OSError, EOFError, AssertionError) as error:
                    print(f"conversation {done['talks']}: {error!r}", file=sys.stderr)
                    done["wrong_talks"] += 1

        beside = threading.Thread(target=disturb)
        beside.start()
        failed = 0
        try:
            for version in (["--h1"], []):
                half = count // 2
                told = subprocess.run(
                    ["h2load", *version, "-n", str(half), "-c", str(CLIENTS), "-m", "20",
                     "--connect-to", replay.ready["https"], f"https://{HOST}/small"],
                    capture_output=True, text=True, check=True)
                failed += half - int(re.search(r"(\d+) 2xx", told.stdout)[1])
        finally:
            over.set()
            beside.join()
        if faults:
            raise faults[0]
        self.assertEqual(replay.stop(), 0, replay.log())
        complaint = COMPLAINTS.search(replay.log())
        self.assertIsNone(complaint, replay.log())
        return failed, done

    def test_nothing_fails(self):
        failed, done = self.soak(4000)
        self.assertEqual((failed, done["wrong_talks"]), (0, 0))
        self.assertGreaterEqual(done["broke_off"], BROKE_OFF_MIN)
        self.assertGreaterEqual(done["talks"], TALKS_MIN)


def build(preset):
    """The binary of that preset."""
    for command in (["cmake", "--preset", preset],
                    ["cmake", "--build", f"build/{preset}", "--target", "reprise"]):
        subprocess.run(command, cwd=harness.REPOSITORY, stdout=sys.stderr, check=True)
    return str(harness.REPOSITORY / f"build/{preset}/reprise")


def report_figure(preset, count):
    harness.REPRISE = build(preset)
    case = Soak()
    case.setUp()
    try:
        failed, done = case.soak(count)
        print(done, file=sys.stderr)
        figure.report(f"soak_{preset}_failed_of_{count}", failed + done["wrong_talks"],
                      "requests", "== 0")
        figure.report(f"soak_{preset}_clients_that_broke_off", done["broke_off"], "clients", None)
        figure.report(f"soak_{preset}_conversations", done["talks"], "WebSockets", None)
    finally:
        case.doCleanups()


if __name__ == "__main__":
    if "--figure" in sys.argv:
        preset, *count = sys.argv[2:]
        report_figure(preset, int(*count) if count else 2_000_000)
    else:
        harness.main()
