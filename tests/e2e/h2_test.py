#!/usr/bin/env python3
"""HTTP/2 on both sides: nginx as the origin, curl, nghttp and h2load as the clients.

What was recorded over h2 is replayed over h2 and to an HTTP/1.1 client; what was recorded over h1
stays h1.
"""

import hashlib
import random
import subprocess

import harness
import nginx_site
from wire import Certificate, DEADLINE_SECONDS, HOST, response

NOISE = random.Random(1)
BODIES = {"empty": b"", "small": b"hello over h2\n", "large": NOISE.randbytes(3_000_000),
          "page": b"<p>" * 5000}
UPLOAD = NOISE.randbytes(1 << 20)
PARALLEL = 40

SERVERS = """
  http2_max_concurrent_streams 128; client_max_body_size 10m;
  server {{
    listen 127.0.0.1:{port} ssl http2;
    ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_protocols TLSv1.2 TLSv1.3;
    root {folder}/www; default_type text/plain;
    location / {{ add_header X-First 1; add_header X-Second 2; add_header X-First 3; }}
    location /trailers/ {{ alias {folder}/www/; add_trailer X-Sum 5d41; add_trailer X-Odd $uri; }}
    # Takes the whole upload before it asks, and so before it answers.
    location /upload {{ proxy_pass http://unix:{folder}/taker; }}
    {locations}
  }}
  server {{ listen unix:{folder}/taker; location / {{ return 200 "taken"; }} }}"""


class Nginx:
    """An h2 origin for HOST. `locations` are more of its configuration."""

    def __init__(self, folder, locations=""):
        self.folder = folder / "nginx"
        (self.folder / "www").mkdir(parents=True)
        for name, body in BODIES.items():
            (self.folder / "www" / name).write_bytes(body)
        self.certificate = Certificate(self.folder / "tls")
        leaf = self.certificate.leaf_file
        self.process, self.port = harness.at_free_ports(
            lambda port: nginx_site.start(self.folder, SERVERS.format(
                folder=self.folder, port=port, certificate=leaf, key=leaf.with_suffix(".key"),
                locations=locations)), harness.LOOPBACK)

    def connect_arguments(self):
        yield from ("--connect-to", f"{HOST}:443:127.0.0.1:{self.port}",
                    "--origin-ca", str(self.certificate.ca_file))

    def close(self):
        nginx_site.stop(self.process)


class Answer:
    """What curl got: the version it spoke, the head, the body. It shows no trailers over h2."""

    def __init__(self, version, head, body):
        self.version = version
        self.body = body
        lines = [line for line in head.splitlines() if line]
        self.status_line = lines[0]
        self.fields = [tuple(line.split(": ", 1)) for line in lines[1:]]

    def end_to_end(self):
        """For comparing over versions: lower case, without what belongs to a connection."""
        return [(name.lower(), value) for name, value in self.fields
                if name.lower() not in ("connection", "transfer-encoding", "trailer")]


class Http2(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"

    def nginx(self):
        origin = Nginx(self.folder)
        self.addCleanup(origin.close)
        return origin

    def curl_command(self, server, way_in="https", version="--http2"):
        command = ["curl", "-sS", version, "--max-time", str(DEADLINE_SECONDS), "--cacert",
                   server.ca_file]
        if way_in == "connect":
            return command + ["--suppress-connect-headers", "-x", "http://" + server.ready["proxy"]]
        return command + ["--connect-to", "::" + server.ready["https"]]

    def curl(self, server, path, *arguments, **options):
        heads, body = self.folder / "heads", self.folder / "body"
        body.write_bytes(b"")
        done = subprocess.run([*self.curl_command(server, **options), "-D", heads, "-o", body, "-w",
                               "%{http_version}", *arguments, f"https://{HOST}{path}"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Answer(done.stdout, heads.read_text(), body.read_bytes())

    def ask_everything(self, server, **options):
        """Each answer by its name."""
        answers = {name: self.curl(server, f"/{name}", **options) for name in BODIES}
        answers["trailers"] = self.curl(server, "/trailers/small", **options)
        answers["missing"] = self.curl(server, "/missing", **options)
        answers["head"] = self.curl(server, "/large", "-I", **options)
        upload = self.folder / "upload"
        upload.write_bytes(UPLOAD)
        answers["upload"] = self.curl(server, "/upload", "--data-binary", f"@{upload}", **options)
        return answers

    def ask_in_parallel(self, server):
        """One connection, many streams. curl ends with an error if one of them fails."""
        done = subprocess.run([*self.curl_command(server), "-f", "-Z", "--parallel-max",
                               str(PARALLEL), "-o", self.folder / "parallel#1", "-w",
                               "%{http_version}\n", f"https://{HOST}/page?[1-{PARALLEL}]"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), ["2"] * PARALLEL)
        for i in range(1, PARALLEL + 1):
            self.assertEqual((self.folder / f"parallel{i}").read_bytes(), BODIES["page"])

    def assert_answers(self, answers, version):
        for name, body in BODIES.items():
            self.assertEqual((answers[name].version, answers[name].body), (version, body), name)
        self.assertEqual(answers["upload"].body, b"taken")
        self.assertIn("404", answers["missing"].status_line)
        self.assertIn(("content-length", str(len(BODIES["large"]))), answers["head"].end_to_end())

    def record_everything(self, way_in="https"):
        origin = self.nginx()
        recorder = self.record(self.archive, origins=(origin,))
        answers = self.ask_everything(recorder, way_in=way_in)
        self.assert_answers(answers, "2")
        self.ask_in_parallel(recorder)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        origin.close()
        self.assert_sound(self.archive)
        return answers

    def shown(self):
        """Every exchange of the archive, by its path and method."""
        listed = self.archive_json("ls", str(self.archive))
        self.assertEqual({entry["outcome"] for entry in listed}, {"complete"})
        shown = [self.archive_json("show", str(self.archive), str(entry["number"]))
                 for entry in listed]
        return {(each["request"]["method"], each["request"]["target"]): each for each in shown}

    def assert_archived(self, answers):
        shown = self.shown()
        self.assertEqual(len(shown), len(answers) + PARALLEL)
        for exchange in shown.values():
            self.assertEqual(exchange["request"]["version"], "h2")
            self.assertEqual(exchange["response"]["version"], "h2")
            self.assertEqual(exchange["connection"]["alpn"], "h2")
        small = shown["GET", "/small"]
        self.assertEqual([tuple(field) for field in small["response"]["headers"]],
                         answers["small"].fields)
        self.assertEqual([value for name, value in answers["small"].fields
                          if name in ("x-first", "x-second")], ["1", "2", "3"])
        self.assertEqual(shown["GET", "/trailers/small"]["response"]["trailers"],
                         [["x-sum", "5d41"], ["x-odd", "/trailers/small"]])
        self.assertEqual(shown["POST", "/upload"]["request"]["body"]["sha256"],
                         hashlib.sha256(UPLOAD).hexdigest())
        parallel = {shown["GET", f"/page?{i}"]["connection"]["id"] for i in range(1, PARALLEL + 1)}
        self.assertEqual(len(parallel), 1)

    def test_what_was_recorded_comes_back_over_either_version(self):
        recorded = self.record_everything()
        self.assert_archived(recorded)
        replay = self.replay(self.archive)
        again = self.ask_everything(replay)
        self.assert_answers(again, "2")
        for name, answer in again.items():
            self.assertEqual(answer.status_line, recorded[name].status_line)
            self.assertEqual(answer.fields, recorded[name].fields)
        self.ask_in_parallel(replay)
        over_h1 = self.ask_everything(replay, version="--http1.1")
        for name in BODIES:
            self.assertEqual((over_h1[name].version, over_h1[name].body), ("1.1", BODIES[name]))
            self.assertEqual(over_h1[name].end_to_end(), recorded[name].end_to_end())
        self.assertEqual(over_h1["upload"].body, b"taken")
        self.assertEqual(replay.stop(), 0, replay.log())

    def test_through_an_explicit_proxy(self):
        recorded = self.record_everything(way_in="connect")
        self.assert_archived(recorded)
        replay = self.replay(self.archive)
        self.assert_answers(self.ask_everything(replay, way_in="connect"), "2")
        self.assertEqual(replay.stop(), 0, replay.log())

    def test_an_h1_recording_stays_h1(self):
        origin = self.origin(lambda request: response(b"old"),
                             tls=Certificate(self.folder / "old"))
        recorder = self.record(self.archive, origins=(origin,))
        self.assertEqual(self.curl(recorder, "/old").version, "1.1")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        origin.close()
        self.assertEqual(self.shown()["GET", "/old"]["response"]["version"], "HTTP/1.1")
        replay = self.replay(self.archive)
        answer = self.curl(replay, "/old")
        self.assertEqual((answer.version, answer.body), ("1.1", b"old"))

    def nghttp(self, server, *paths):
        """The lines that nghttp prints of the conversation."""
        urls = [f"https://{server.ready['https']}{path}" for path in paths]
        done = subprocess.run(["nghttp", "-nv", "-H", f":authority: {HOST}", *urls], text=True,
                              capture_output=True, check=False, timeout=DEADLINE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split("] ", 1)[-1] for line in done.stdout.splitlines()]

    def h2load(self, server, path, count, streams):
        done = subprocess.run(["h2load", "-n", str(count), "-c", "20", "-m", str(streams),
                               "--connect-to", server.ready["https"], f"https://{HOST}{path}"],
                              capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{count} succeeded, 0 failed, 0 errored", done.stdout)
        self.assertIn(f"{count} 2xx", done.stdout)

    def test_other_clients(self):
        origin = self.nginx()
        recorder = self.record(self.archive, origins=(origin,))
        self.curl(recorder, "/large")
        paths = ("/small", "/page", "/trailers/small")
        recorded = self.nghttp(recorder, *paths)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        origin.close()
        replay = self.replay(self.archive)
        replayed = self.nghttp(replay, *paths)
        for lines in (recorded, replayed):
            fields = [line for line in lines if line.startswith("recv (stream_id=")]
            texts = [line.split(") ", 1)[1] for line in fields]
            self.assertEqual(texts.count(":status: 200"), len(paths))
            self.assertLess(texts.index("x-sum: 5d41"), texts.index("x-odd: /trailers/small"))
        self.h2load(replay, "/small", 20_000, 50)
        self.h2load(replay, "/small", 2_000, 1)
        self.h2load(replay, "/large", 200, 5)
        self.assertEqual(replay.stop(), 0, replay.log())


if __name__ == "__main__":
    harness.main()
