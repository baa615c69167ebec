#!/usr/bin/env python3
"""A page of the Internet does not reach the recording user's machine and networks through the
recorder; tools and local pages do. In a namespace with an address of the Internet."""

import json
import subprocess
import unittest
import urllib.request

import devtools
import harness
from wire import Certificate, response

PUBLIC = "203.0.113.7"
BROWSER = b"User-Agent: Mozilla/5.0 (X11)\r\n"
PAGE = BROWSER + b"Accept: text/html,*/*\r\n"


class PrivateReach(harness.TestCase):
    def setUp(self):
        super().setUp()
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        subprocess.run(["ip", "address", "replace", f"{PUBLIC}/32", "dev", "lo"], check=True)
        self.public = self.origin(lambda _: response(b"public"), address=PUBLIC)
        self.local = self.origin(lambda _: response(b"local"))
        self.archive = self.folder / "a.reprise"

    def ask(self, recorder, origin, fields=b""):
        host = f"{origin.address}:{origin.port}"
        with recorder.connect("proxy") as client:
            return client.get("/", host=host, headers=fields, form="absolute")

    def refused(self, recorder):
        with urllib.request.urlopen(f"http://{recorder.ready['admin']}/status") as answered:
            return json.load(answered)["private_refused"]

    def from_public(self):
        return f"Origin: http://{PUBLIC}:{self.public.port}\r\n".encode()

    def test_a_public_page_does_not_get_there(self):
        recorder = self.record(self.archive, "--admin", "127.0.0.1:0")
        self.assertEqual(self.ask(recorder, self.public, PAGE).body, b"public")
        for fields in (BROWSER + self.from_public(), BROWSER,
                       PAGE + b"Sec-Fetch-Site: cross-site\r\n"):
            with self.subTest(fields):
                got = self.ask(recorder, self.local, fields)
                self.assertEqual(got.status, 403)
                self.assertIn(b"--allow-private", got.body)
        self.assertEqual(self.local.requests, [])
        self.assertEqual(self.refused(recorder), 3)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assertEqual(recorder.log().count("must not reach"), 1, recorder.log())

    def test_nor_over_a_connection_that_somebody_else_opened(self):
        recorder = self.record(self.archive)
        host = f"127.0.0.1:{self.local.port}"
        with recorder.connect("proxy") as client:
            self.assertEqual(client.get("/", host=host, form="absolute").body, b"local")
            self.assertEqual(client.get("/", host=host, headers=BROWSER + self.from_public(),
                                        form="absolute").status, 403)
        self.assertEqual(len(self.local.requests), 1)

    def test_nor_by_a_tls_handshake(self):
        secure = self.origin(lambda _: response(b"local"), names=("localhost",),
                             tls=Certificate(self.folder / "tls", ["localhost"]))
        recorder = self.record(self.archive, "--origin-ca", str(secure.tls.ca_file))
        self.ask(recorder, self.public, PAGE)
        host = f"localhost:{secure.port}"
        with recorder.connect("connect", host="localhost", port=secure.port) as client:
            self.assertEqual(client.get("/", host=host, headers=BROWSER).status, 403)
            self.assertFalse(secure.connection_ended.is_set() or secure.open)
            self.assertEqual(client.get("/", host=host).body, b"local")

    def test_tools_and_local_pages_do(self):
        recorder = self.record(self.archive)
        self.assertEqual(self.ask(recorder, self.local, PAGE).body, b"local")
        self.assertEqual(self.ask(recorder, self.public, PAGE).body, b"public")
        local = f"Referer: http://127.0.0.1:{self.local.port}/\r\n".encode()
        self.assertEqual(self.ask(recorder, self.local, BROWSER + local).body, b"local")
        self.assertEqual(self.ask(recorder, self.local).body, b"local")

    def test_a_command_records_localhost(self):
        done = harness.run("record", "-o", str(self.archive), "--proxy", "127.0.0.1:8081", "--",
                           "curl", "--silent", "--noproxy", "", "--proxy", "127.0.0.1:8081",
                           f"http://localhost:{self.local.port}/", folder=self.folder)
        self.assertEqual(done.stdout, b"local", done.stderr)

    @unittest.skipUnless(devtools.PROGRAM, "needs Chromium")
    def test_a_page_in_chromium_does_not_get_there(self):
        local = f"http://127.0.0.1:{self.local.port}/"
        page = (f"<img src={local}1 referrerpolicy=no-referrer><iframe src={local}2></iframe>"
                f"<script>fetch('{local}3', {{mode: 'no-cors'}})</script>").encode()
        public = self.origin(lambda request: response(
            page if request.target == "/" else b"", headers=b"Content-Type: text/html\r\n"),
            address=PUBLIC)
        done = harness.run("record", "-o", str(self.archive), f"http://{PUBLIC}:{public.port}/",
                           folder=self.folder, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.local.requests, [])
        self.assertIn(b"3 refused access to private addresses", done.stderr)

    @unittest.skipUnless(devtools.PROGRAM, "needs Chromium")
    def test_a_local_page_in_chromium_does(self):
        other = self.origin(lambda _: response(b"other"))
        page = f"<script>fetch('http://127.0.0.1:{other.port}/', {{mode: 'no-cors'}})</script>"
        local = self.origin(lambda _: response(page.encode(),
                                               headers=b"Content-Type: text/html\r\n"))
        done = harness.run("record", "-o", str(self.archive), f"http://localhost:{local.port}/",
                           folder=self.folder, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(other.requests), 1)
        self.assertNotIn(b"refused", done.stderr)

    def test_the_user_may_allow_it(self):
        recorder = self.record(self.archive, "--allow-private")
        self.ask(recorder, self.public, PAGE)
        got = self.ask(recorder, self.local, BROWSER + self.from_public())
        self.assertEqual(got.body, b"local")
        named = self.record(self.folder / "b.reprise", "--connect-to",
                            f"local.test:80:127.0.0.1:{self.local.port}")
        self.ask(named, self.public, PAGE)
        with named.connect("http") as client:
            got = client.get("/", host="local.test", headers=BROWSER + self.from_public())
        self.assertEqual(got.body, b"local")


if __name__ == "__main__":
    harness.main_in_namespace("--net")
