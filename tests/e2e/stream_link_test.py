#!/usr/bin/env python3
"""The modelled link, --shaper stream: how long things take at least, that bytes are what they were,
who goes away, and what is said where packets are not allowed. Lower bounds only: a busy machine is
late, never early."""

import json
import socket
import subprocess
import threading
import time

import harness
from wire import Certificate, response

RTT = 0.3
LINK = "10mbit/10mbit/300ms"
LARGE = bytes(range(256)) * 800  # 204,800 bytes
SEGMENT = 1448
CURL_TIMES = "%{time_starttransfer} %{time_total} %{http_code}"


def answer(request):
    if b" /large " in request.line:
        return response(LARGE)
    if b" /upload " in request.line:
        return response(str(len(request.body)).encode())
    return response(b"small")


class Recorded(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"
        clear = self.origin(answer)
        secure = self.origin(answer, tls=Certificate(self.folder / "tls"))
        recorder = self.record(self.archive, origins=(clear, secure))
        for way_in in ("http", "https"):
            with recorder.connect(way_in) as client:
                for path in ("/", "/large"):
                    client.get(path)
        self.assertEqual(recorder.stop(), 0, recorder.log())


class StreamLink(Recorded):
    def linked(self, *arguments, link=LINK, **options):
        return self.replay(self.archive, "--link", link, "--shaper", "stream", "--no-selfcheck",
                           *arguments, **options)

    def curl(self, replay, url, *arguments):
        """The body, seconds to its first byte and seconds in all."""
        body = self.folder / "body"
        ports = [part for scheme, port in (("http", 80), ("https", 443))
                 for part in ("--connect-to", f"::{':'.join(map(str, replay.address(scheme)))}")
                 if url.startswith(scheme + ":")]
        done = subprocess.run(
            ["curl", "-sS", "--http1.1", "--noproxy", "*", "--cacert", replay.ca_file, *ports, "-o",
             str(body), "-w", CURL_TIMES, *arguments, url],
            capture_output=True, text=True, timeout=harness.DEADLINE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        first, total, code = done.stdout.split()
        self.assertEqual(code, "200")
        return body.read_bytes(), float(first), float(total)

    def report_of(self, replay, file):
        self.assertEqual(replay.stop(), 0, replay.log())
        return json.loads(file.read_text())["link"]

    def test_a_clear_request_takes_two_round_trips_and_tls_three(self):
        replay = self.linked()
        body, first, _ = self.curl(replay, f"http://{harness.HOST}/")
        self.assertEqual(body, b"small")
        self.assertGreaterEqual(first, 2 * RTT)
        body, first, _ = self.curl(replay, f"https://{harness.HOST}/", "--tlsv1.3")
        self.assertEqual(body, b"small")
        self.assertGreaterEqual(first, 3 * RTT)

    def test_a_large_body_goes_through_slow_start(self):
        replay = self.linked()
        body, _, total = self.curl(replay, f"http://{harness.HOST}/large")
        self.assertEqual(body, LARGE)
        # 10, 20, 40 and 80 segments do, 70 would not.
        self.assertGreater(len(LARGE), 70 * SEGMENT)
        self.assertGreaterEqual(total, 5 * RTT)

    def test_bodies_are_equal_over_a_link_that_loses_packets(self):
        replay = self.linked(link="20mbit/20mbit/10ms,loss=2%")
        for scheme in ("http", "https"):
            body, _, _ = self.curl(replay, f"{scheme}://{harness.HOST}/large")
            self.assertEqual(body, LARGE)

    def test_an_upload_arrives_at_the_rate_of_the_link(self):
        origin = self.origin(answer)
        recorder = self.start("record", "-o", str(self.folder / "up.reprise"), "--link",
                              "10mbit/1mbit/20ms", "--shaper", "stream", "--no-selfcheck",
                              *origin.connect_arguments())
        upload = self.folder / "upload"
        upload.write_bytes(LARGE)
        body, _, total = self.curl(recorder, f"http://{harness.HOST}/upload", "--data-binary",
                                   f"@{upload}", "-H", "Expect:")
        self.assertEqual(body, str(len(LARGE)).encode())
        self.assertGreaterEqual(total, len(LARGE) * 8 / 1e6)
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def test_many_connections_share_the_link(self):
        count = 20
        replay = self.linked(link="10mbit/10mbit/20ms")
        bodies = []

        def fetch():
            with replay.connect("http") as client:
                bodies.append(client.get("/large").body)

        begin = time.monotonic()
        threads = [threading.Thread(target=fetch) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(harness.DEADLINE_SECONDS)
        self.assertGreaterEqual(time.monotonic() - begin, count * len(LARGE) * 8 / 10e6)
        self.assertEqual(bodies, [LARGE] * count)

    def test_clients_that_go_away_leave_the_others_alone(self):
        file = self.folder / "report.json"
        replay = self.linked("--report", str(file), link="2mbit/2mbit/20ms")
        for how in (None, b"\1\0\0\0\0\0\0\0"):
            for _ in range(5):
                client = replay.connect("http")
                client.send(b"GET /large HTTP/1.1\r\nHost: " + harness.HOST.encode() + b"\r\n\r\n")
                if how:
                    client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, how)
                client.exactly(1000)
                client.close()
        with replay.connect("http") as client:
            self.assertEqual(client.get("/large").body, LARGE)
        self.assertEqual(self.report_of(replay, file)["connections"], 11)

    def test_names_cross_the_link_too(self):
        host = harness.HOST.encode()
        labels = b"".join(bytes([len(label)]) + label for label in host.split(b"."))
        query = b"\0\7\1\0\0\1\0\0\0\0\0\0" + labels + b"\0\0\1\0\1"
        file = self.folder / "report.json"
        replay = self.linked("--report", str(file))
        for kind, round_trips, size in ((socket.SOCK_DGRAM, 1, b""),
                                        (socket.SOCK_STREAM, 2, len(query).to_bytes(2, "big"))):
            with socket.socket(socket.AF_INET, kind) as client:
                client.settimeout(harness.DEADLINE_SECONDS)
                begin = time.monotonic()
                client.connect(replay.address("dns"))
                client.sendall(size + query)
                answer_bytes = client.recv(2000)[len(size):]
                self.assertGreaterEqual(time.monotonic() - begin, round_trips * RTT)
            self.assertEqual(answer_bytes[:2], query[:2])
            self.assertEqual(answer_bytes[3] & 15, 0)  # NOERROR
            self.assertEqual(answer_bytes[7], 1)  # one answer
        self.assertEqual(self.report_of(replay, file)["names_asked"], 1)
        self.assertEqual(json.loads(file.read_text())["dns"]["by_type"], {"A": 2})

    def test_the_report_is_marked_approximate(self):
        file = self.folder / "report.json"
        replay = self.replay(self.archive, "--link", "wpt:cable", "--link-seed", "7", "--shaper",
                             "stream", "--report", str(file))
        self.curl(replay, f"http://{harness.HOST}/large")
        link = self.report_of(replay, file)
        self.assertEqual((link["shaper"], link["approximate"], link["link_seed"]),
                         ("stream", True, 7))
        self.assertIsNone(link["instead_of_packet"])
        self.assertEqual(link["link"]["down"]["rate_bps"], 5_000_000)
        self.assertGreaterEqual(link["self_check"]["connected"]["measured_ms"], 56)
        self.assertGreater(link["lateness"]["events"], 0)
        self.assertGreater(link["down"]["bytes_out"], len(LARGE))

    def test_a_recording_tells_the_seed_of_its_losses(self):
        for link, said in (("none,loss=1%", "--link-seed 7"), ("none", None)):
            archive = self.folder / f"{link}.reprise"
            done = harness.run("record", "-o", str(archive), "--link", link, "--link-seed", "7",
                               "--shaper", "stream", "--no-selfcheck", "--", "true",
                               folder=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            if said:
                self.assertIn(said, done.stderr.decode())
            else:
                self.assertNotIn("--link-seed", done.stderr.decode())

    def test_the_exit_code_is_the_commands_and_its_flags_lead_through_the_link(self):
        file = self.folder / "report.json"
        done = harness.run("replay", str(self.archive), "--link", LINK, "--shaper", "stream",
                           "--no-selfcheck", "--report", str(file), "--", "sh", "-c",
                           'echo "$@"; exit 7', "sh", "{chromium-flags}", folder=self.folder)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn(b"--host-resolver-rules=MAP", done.stdout)
        self.assertTrue(json.loads(file.read_text())["link"]["approximate"])

    def test_without_a_command_the_model_takes_over_and_says_so(self):
        replay = self.replay(self.archive, "--link", "20mbit/20mbit/10ms", "--no-selfcheck")
        self.assertIn("approximate", replay.log())
        self.assertIn("-- COMMAND", replay.log())

    def test_what_the_model_cannot_do_is_refused(self):
        for arguments in (["--congestion", "bbr"], ["--realtime"], ["--keep-awake"],
                          ["--link-log", "log"]):
            done = harness.run("replay", str(self.archive), "--link", LINK, "--shaper", "stream",
                               *arguments, folder=self.folder)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(arguments[0].encode(), done.stderr)
        done = harness.run("replay", str(self.archive), "--link", LINK, "--shaper", "packet",
                           folder=self.folder)
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_options_of_a_link_without_one_are_said_to_have_no_effect(self):
        options = ["--shaper", "packet", "--link-seed", "5", "--congestion", "bbr", "--realtime",
                   "--keep-awake", "--no-selfcheck"]
        for mode in (["replay", str(self.archive)], ["record", "-o", str(self.folder / "b")]):
            done = harness.run(*mode, *options, "--", "true", folder=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            for option in options:
                if option.startswith("--"):
                    self.assertIn(f"{option} has no effect without a link", done.stderr.decode())

    def test_a_log_of_no_link_is_refused(self):
        log = self.folder / "log"
        for mode in (["replay", str(self.archive)], ["record", "-o", str(self.folder / "b")]):
            done = harness.run(*mode, "--link-log", str(log), "--", "true", folder=self.folder)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--link-log needs a link", done.stderr.decode())
            self.assertFalse(log.exists())


class NotPermitted(Recorded):
    """In a user namespace in which no others can be made, without capabilities."""

    # Root of that namespace would not need another.
    INSIDE = ("echo 0 > /proc/sys/user/max_user_namespaces && "
              'exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs "$@"')

    def without_namespaces(self, *arguments):
        outer = ["unshare", "--user", "--map-root-user"]
        if subprocess.run([*outer, "true"], capture_output=True).returncode:
            outer, inside = [], 'exec "$@"'  # then they are denied anyway
        else:
            inside = self.INSIDE
        return subprocess.run(
            [*outer, "sh", "-c", inside, "sh", harness.REPRISE, "replay", str(self.archive),
             "--inject", "none", "--dates", "recorded", "--link", "20mbit/20mbit/10ms", *arguments],
            capture_output=True, text=True, timeout=harness.DEADLINE_SECONDS,
            stdin=subprocess.DEVNULL, env=harness.environment(self.folder))

    def test_the_model_takes_over_and_says_what_is_missing(self):
        file = self.folder / "report.json"
        done = self.without_namespaces("--report", str(file), "--http", "127.0.0.1:0", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [line for line in done.stderr.splitlines() if "approximate" in line]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertIn("namespace", said[0])
        link = json.loads(file.read_text())["link"]
        self.assertEqual((link["shaper"], link["approximate"]), ("stream", True))
        self.assertIn("namespace", link["instead_of_packet"])

    def test_packets_that_were_asked_for_are_refused(self):
        done = self.without_namespaces("--shaper", "packet", "--", "true")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("namespace", done.stderr)


if __name__ == "__main__":
    harness.main()
