#!/usr/bin/env python3
"""WebSockets: recorded from an origin of its own, given again over HTTP/1.1 and HTTP/2, to a client
that speaks frames and to Chromium."""

import base64
import hashlib
import html
import json
import re
import shutil
import socket
import ssl
import struct
import time
import unittest

import harness
from web_socket_wire import (BINARY, CLOSE, CONTINUATION, ENABLE_CONNECT_PROTOCOL, PING, PONG, TEXT,
                             H1WebSocket, H2WebSocket, Frames, accept_of, frame)
from wire import DEADLINE_SECONDS, HOST, Certificate, Close, response

BROWSER = shutil.which(harness.BROWSER)
LONG = bytes((i * i) % 251 for i in range(600_000))
SHORT = bytes(range(256)) * 300
GOODBYE = struct.pack(">H", 1000) + b"done"

# Who says what, and how long the origin thinks before it does.
CONVERSATION = [
    ("origin", TEXT, b"welcome", 0),
    ("client", TEXT, b"hello", 0),
    ("origin", TEXT, b"one", 0.04),
    ("origin", TEXT, "zwei \u00e9 \U0001f310".encode(), 0.08),
    ("client", BINARY, SHORT, 0),
    ("origin", BINARY, LONG, 0.02),
    ("origin", PING, b"there?", 0),
    ("client", TEXT, b"bye", 0),
    ("origin", CLOSE, GOODBYE, 0.06),
]
TOLD = [[kind, payload] for who, kind, payload, _ in CONVERSATION if who == "origin"]

PAGE = """<!doctype html><meta charset=utf-8><title>WebSocket</title><pre id=told></pre><script>
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const replies = %s;
const digest = async (data) => {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  return [...hash].map((each) => each.toString(16).padStart(2, "0")).join("");
};
const heard = [];
const socket = new WebSocket("wss://" + location.host + "/socket", ["other", "chat"]);
socket.binaryType = "arraybuffer";
let waits = Promise.resolve();
const say = (reply) => socket.send(typeof reply === "string" ? reply : bytes(reply[0]));
let count = 0;
socket.onmessage = ({data}) => {
  const at = performance.now();
  const number = ++count;
  waits = waits.then(async () => heard.push(
      {data: typeof data === "string" ? data : await digest(data), at}));
  if (number === 1) say(replies[0]);
  if (number === 3) say(replies[1]);
  if (number === 4) say(replies[2]);
};
socket.onclose = ({code, reason, wasClean}) => waits.then(() => {
  document.getElementById("told").textContent = JSON.stringify(
      {heard, code, reason, wasClean, protocol: socket.protocol, extensions: socket.extensions});
});
</script>""" % json.dumps(["hello", [base64.b64encode(SHORT).decode()], "bye"])


class ChatOrigin:
    """Answers `wire.Origin`: the page, and the conversation; notes what it was offered."""

    def __init__(self):
        self.offers = []
        self.failures = []

    def answer(self, _request):
        return response(PAGE.encode(), headers=b"Content-Type: text/html\r\n")

    def before_body(self, connection, line, headers):
        if not line.startswith(b"GET /socket"):
            return
        fields = {name.lower(): value for name, value in headers}
        self.offers.append(fields)
        connection.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                        b"Connection: Upgrade\r\nX-Order: 1\r\nSec-WebSocket-Accept: " +
                        accept_of(fields[b"sec-websocket-key"]) +
                        b"\r\nSec-WebSocket-Protocol: chat\r\n\r\n")
        frames = Frames(connection.read_some)
        for who, kind, payload, thinks in CONVERSATION:
            if who == "origin":
                time.sleep(thinks)  # what is to be recorded
                self.send(connection, kind, payload)
            else:
                while (got := frames.message())[0] == PONG:
                    pass
                if got != (kind, payload):
                    self.failures.append((got[0], got[1][:50]))
        while frames.message()[0] != CLOSE:
            pass
        raise Close

    @staticmethod
    def send(connection, kind, payload):
        if kind != TEXT or len(payload) < 4:
            connection.send(frame(kind, payload))
            return
        connection.send(frame(TEXT, payload[:3], last=False))
        connection.send(frame(CONTINUATION, payload[3:]))


def converse(socket_client):
    """Plays the client's part. Returns what the origin said and when each came, in seconds."""
    said = [(kind, payload) for who, kind, payload, _ in CONVERSATION if who == "client"]
    heard, times = [], []
    expected = len(TOLD)
    for who, _, _, _ in CONVERSATION:
        if who == "client":
            socket_client.send(*said.pop(0))
            continue
        kind, payload = socket_client.message()
        times.append(time.monotonic())
        heard.append([kind, payload])
        if kind == PING:
            socket_client.send(PONG, payload)
    assert len(heard) == expected
    socket_client.send(CLOSE, heard[-1][1])
    return heard, [at - times[0] for at in times]


class WebSocket(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "chat.reprise"
        self.chat = ChatOrigin()
        self.site = self.origin(self.chat.answer, tls=Certificate(self.folder / "tls"),
                                before_body=self.chat.before_body)

    def record_by_hand(self):
        recorder = self.record(self.archive, origins=[self.site])
        with recorder.connect("https") as client:
            opened = H1WebSocket(client, HOST, "/socket")
            self.assertEqual(opened.head.status, 101)
            heard, times = converse(opened)
            self.assertTrue(opened.ended())
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.site.close()
        self.assertEqual(self.chat.failures, [])
        self.assertEqual(heard, TOLD)
        self.assert_sound(self.archive)
        return times

    def h2_socket(self, process):
        context = ssl.create_default_context(cafile=process.ca_file)
        context.set_alpn_protocols(["h2"])
        plain = socket.create_connection(process.address("https"), DEADLINE_SECONDS)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        secure = context.wrap_socket(plain, server_hostname=HOST)
        self.addCleanup(secure.close)
        self.assertEqual(secure.selected_alpn_protocol(), "h2")
        return secure

    def tell_pacing(self, name, recorded, replayed):
        worst = max(abs(a - b) for a, b in zip(recorded, replayed))
        print(f"pacing over {name}: at most {worst * 1000:.2f} ms from the recording", flush=True)

    def replay_report(self, report, sockets=1):
        told = json.loads(report.read_text())["web_sockets"]
        self.assertEqual((told["opened"], told["ended"], told["not_as_recorded"]),
                         (sockets, sockets, 0), told)

    def test_is_replayed_over_h1_and_h2_as_recorded(self):
        recorded = self.record_by_hand()
        offer = self.chat.offers[0]
        self.assertNotIn(b"sec-websocket-extensions", offer)
        self.assertEqual(offer[b"sec-websocket-protocol"], b"other, chat")
        line, = self.archive_json("ls", str(self.archive))
        self.assertEqual((line["status"], line["messages"]), (101, 7), line)
        shown = harness.run("archive", "cat", str(self.archive), "1", "--messages")
        messages = [json.loads(each) for each in shown.stdout.splitlines()]
        self.assertEqual([each["kind"] for each in messages if not each["goes_on"]],
                         ["text", "text", "text", "text", "binary", "binary", "ping", "pong",
                          "text", "close", "close", "end"])

        report = self.folder / "h1.json"
        replay = self.replay(self.archive, "--report", str(report))
        with replay.connect("https") as client:
            opened = H1WebSocket(client, HOST, "/socket")
            self.assertEqual(opened.head.all(b"sec-websocket-protocol"), [b"chat"])
            self.assertEqual(opened.head.all(b"x-order"), [b"1"])
            heard, times = converse(opened)
            self.assertTrue(opened.ended())
        self.assertEqual(heard, TOLD)
        self.tell_pacing("h1", recorded, times)
        with replay.connect("https") as client:  # a plain GET is not for it
            self.assertEqual(client.get("/socket").status, 404)
        self.assertEqual(replay.stop(), 0, replay.log())
        self.replay_report(report)

        report = self.folder / "h2.json"
        replay = self.replay(self.archive, "--protocol", "h2", "--report", str(report))
        opened = H2WebSocket(self.h2_socket(replay), HOST, "/socket")
        self.assertEqual(opened.settings.get(ENABLE_CONNECT_PROTOCOL), 1)
        self.assertEqual(opened.status, 200)
        heard, times = converse(opened)
        self.assertTrue(opened.ended())
        self.assertEqual(heard, TOLD)
        self.tell_pacing("h2", recorded, times)
        self.assertEqual(replay.stop(), 0, replay.log())
        self.replay_report(report)

    def test_is_recorded_over_h2_from_an_h2_origin(self):
        self.record_by_hand()
        site = self.replay(self.archive, "--protocol", "h2")
        again = self.folder / "again.reprise"
        recorder = self.record(again, "--connect-to",
                               f"{HOST}:443:127.0.0.1:{site.address('https')[1]}", "--origin-ca",
                               site.ca_file)
        # The client learns that WebSockets are taken here once the origin has said so.
        opened = H2WebSocket(self.h2_socket(recorder), HOST, "/socket", asks_first=True)
        self.assertEqual(opened.status, 200)
        heard, _ = converse(opened)
        self.assertEqual(heard, TOLD)
        self.assertTrue(opened.ended())
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assert_sound(again)
        _, line = self.archive_json("ls", str(again))
        self.assertEqual(line["messages"], 7, line)
        replay = self.replay(again)
        heard, _ = converse(H2WebSocket(self.h2_socket(replay), HOST, "/socket"))
        self.assertEqual(heard, TOLD)

    def test_what_a_client_says_else_is_told(self):
        self.record_by_hand()
        report = self.folder / "report.json"
        replay = self.replay(self.archive, "--report", str(report))
        with replay.connect("https") as client:
            opened = H1WebSocket(client, HOST, "/socket")
            self.assertEqual(opened.message(), (TEXT, b"welcome"))
            opened.send(TEXT, b"servus")
            self.assertEqual(opened.message(), (TEXT, b"one"))
            opened.send(CLOSE, struct.pack(">H", 3000))
            while (got := opened.message())[0] != CLOSE:
                pass
            self.assertEqual(got, (CLOSE, GOODBYE))
            self.assertTrue(opened.ended())
        with replay.connect("https") as client:  # one that does not mask
            opened = H1WebSocket(client, HOST, "/socket")
            client.send(frame(TEXT, b"hello"))
            while (got := opened.message())[0] != CLOSE:
                pass
            self.assertEqual(got, (CLOSE, struct.pack(">H", 1002)))
        self.assertEqual(replay.stop(), 0, replay.log())
        told = json.loads(report.read_text())["web_sockets"]
        self.assertEqual(told["not_as_recorded"], 2)
        counts = told["different"][0]["messages"]
        self.assertEqual((counts["client_recorded"], counts["client_received"],
                          counts["client_differing"]), (3, 1, 1))
        self.assertEqual(told["different"][0]["differing_client_messages"], [1])

    def test_a_killed_recorder_has_what_went_by(self):
        recorder = self.record(self.archive, origins=[self.site])
        with recorder.connect("https") as client:
            opened = H1WebSocket(client, HOST, "/socket")
            self.assertEqual(opened.message(), (TEXT, b"welcome"))
            opened.send(TEXT, b"hello")
            self.assertEqual(opened.message(), (TEXT, b"one"))
            recorder.kill()
        shown = harness.run("archive", "cat", str(self.archive), "1", "--messages")
        said = [json.loads(each)["text"] for each in shown.stdout.splitlines()]
        self.assertEqual(said[:3], ["welcome", "hello", "one"])

    def test_a_refusal_is_an_answer_like_any_other(self):
        site = self.origin(lambda _: response(b"no\n", status=b"403 Forbidden"))
        recorder = self.record(self.archive, origins=[site])
        with recorder.connect("http") as client:
            self.assertEqual(H1WebSocket(client, HOST, "/socket").head.status, 403)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        replay = self.replay(self.archive)
        with replay.connect("http") as client:
            opened = H1WebSocket(client, HOST, "/socket")
            self.assertEqual(opened.head.status, 403)
            self.assertEqual(next(client.exactly(3)), b"no\n")

    @unittest.skipUnless(BROWSER, "no Chromium")
    def test_chromium_over_h1_and_h2(self):
        done = harness.run("record", "-o", str(self.archive), *self.site.connect_arguments(), "--",
                           *self.load_command(), folder=self.folder, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.site.close()
        self.assertEqual(self.chat.failures, [])
        for protocol in ("h1", "h2"):
            with self.subTest(protocol):
                self.check_in_chromium(protocol)

    def load_command(self, *arguments):
        # What is open does not keep a page from being quiet: it tells when it has closed.
        steps = self.folder / "steps.json"
        steps.write_text('[{"wait": "#told:not(:empty)"}]')
        return (harness.REPRISE, "load", "--live", f"https://{HOST}/page", "--browser", BROWSER,
                "--quiet", "1000", "--timeout", "90", "--steps", str(steps), "--runs", "1",
                *arguments, "--", "{chromium-flags}")

    def check_in_chromium(self, protocol):
        result, report = self.folder / f"{protocol}.json", self.folder / f"{protocol}.report"
        done = harness.run("replay", "--protocol", protocol, "--report", str(report),
                           str(self.archive), "--", *self.load_command("--dom", "-o", str(result)),
                           folder=self.folder, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        load, = json.loads(result.read_text())["loads"]
        found = re.search(r'<pre id="told">(.*?)</pre>', load["dom"], re.DOTALL)
        told = json.loads(html.unescape(found.group(1)))
        self.assertEqual((told["code"], told["reason"], told["wasClean"]), (1000, "done", True))
        self.assertEqual((told["protocol"], told["extensions"]), ("chat", ""))
        expected = [payload.decode() if kind == TEXT else hashlib.sha256(payload).hexdigest()
                    for kind, payload in TOLD if kind in (TEXT, BINARY)]
        self.assertEqual([each["data"] for each in told["heard"]], expected)
        self.replay_report(report)


if __name__ == "__main__":
    harness.main()
