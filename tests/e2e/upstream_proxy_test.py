#!/usr/bin/env python3
"""A recorder behind a company's proxy: HTTP, HTTPS and WebSocket reach their origins through it,
and its password is in no archive, report or log."""

import base64
import os
import shutil
import unittest
import unittest.mock

import harness
from corporate_proxy import PASSWORD, USER, CorporateProxy
from web_socket_wire import CLOSE, TEXT, Frames, H1WebSocket, accept_of, frame
from wire import HOST, Certificate, Close, response

BROWSER = shutil.which(harness.BROWSER)
SECRETS = [PASSWORD, PASSWORD.replace(":", "%3A"),
           base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()]
VARIABLES = ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy",
             "NO_PROXY")


def echo(connection, line, headers):
    """A WebSocket that returns one message; other requests get their answer."""
    if not line.startswith(b"GET /socket"):
        return
    fields = {name.lower(): value for name, value in headers}
    connection.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                    b"Connection: Upgrade\r\nSec-WebSocket-Accept: " +
                    accept_of(fields[b"sec-websocket-key"]) + b"\r\n\r\n")
    frames = Frames(connection.read_some)
    connection.send(frame(*frames.message()))
    while frames.message()[0] != CLOSE:
        pass
    connection.send(frame(CLOSE, b"\x03\xe8"))
    raise Close


class UpstreamProxy(harness.TestCase):
    def setUp(self):
        super().setUp()
        environment = {key: value for key, value in os.environ.items() if key not in VARIABLES}
        patched = unittest.mock.patch.dict(os.environ, environment, clear=True)
        patched.start()
        self.addCleanup(patched.stop)
        self.archive = self.folder / "a.reprise"
        self.tls = Certificate(self.folder / "tls", (HOST,))
        self.plain = self.origin(lambda request: response(b"plain " + request.target.encode()),
                                 before_body=echo)
        self.secure = self.origin(lambda request: response(b"secure " + request.target.encode()),
                                  tls=self.tls, before_body=echo)

    def proxy(self, *origins):
        proxy = CorporateProxy(origins)
        self.addCleanup(proxy.close)
        return proxy

    def recorder(self, *arguments):
        return self.start("record", "-o", str(self.archive), "--origin-ca", str(self.tls.ca_file),
                          "--log", "debug", *arguments)

    def get(self, recorder, listener, path):
        with recorder.connect(listener) as client:
            return client.get(path)

    def converse(self, recorder, listener):
        with recorder.connect(listener) as client:
            chat = H1WebSocket(client, HOST, "/socket")
            self.assertEqual(chat.head.status, 101, recorder.log())
            chat.send(TEXT, b"hello")
            self.assertEqual(chat.message(), (TEXT, b"hello"))
            chat.send(CLOSE, b"\x03\xe8")
            self.assertEqual(chat.message()[0], CLOSE)

    def assert_no_secret(self, recorder, *texts):
        everything = [self.archive.read_bytes(), recorder.log().encode(),
                      recorder.ready_file.read_bytes(), *texts]
        for secret in SECRETS:
            for text in everything:
                self.assertNotIn(secret.encode(), text)

    def record_through(self, *arguments):
        """Records each kind of request, checks the archive and replays it."""
        recorder = self.recorder(*arguments)
        self.assertEqual(self.get(recorder, "http", "/a").body, b"plain /a", recorder.log())
        self.assertEqual(self.get(recorder, "https", "/b").body, b"secure /b", recorder.log())
        self.converse(recorder, "http")
        self.converse(recorder, "https")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assert_sound(self.archive)
        shown = b"".join(harness.run("archive", "show", str(self.archive), str(number)).stdout
                         for number in range(1, 5))
        self.assertIn(b"/socket", shown)
        self.assert_no_secret(recorder, shown, self.archive_info())
        for origin in (self.plain, self.secure):
            self.assertEqual(origin.failures, [])
            for request in origin.requests:
                self.assertEqual(request.all(b"proxy-authorization"), [])
        replay = self.replay(self.archive)
        self.assertEqual(self.get(replay, "http", "/a").body, b"plain /a")
        self.assertEqual(self.get(replay, "https", "/b").body, b"secure /b")
        self.assertEqual(replay.stop(), 0, replay.log())

    def archive_info(self):
        """What `archive stats` and `ls` tell, with the recorder's command line."""
        return b"".join(harness.run("archive", command, str(self.archive), "--json").stdout
                        for command in ("stats", "ls"))

    def test_a_proxy_with_a_password(self):
        proxy = self.proxy(self.plain, self.secure)
        self.record_through("--upstream-proxy", proxy.url())
        self.assertEqual(set(proxy.asked), {("forward", HOST, 80), ("connect", HOST, 443),
                                            ("connect", HOST, 80)})
        self.assertEqual(proxy.refused, 0)

    def test_socks(self):
        proxy = self.proxy(self.plain, self.secure)
        self.record_through("--upstream-proxy", proxy.url("socks5"))
        self.assertEqual(set(proxy.asked), {("socks", HOST, 80), ("socks", HOST, 443)})

    def test_the_environment_names_a_proxy_for_each_scheme(self):
        plain, secure = self.proxy(self.plain), self.proxy(self.secure)
        os.environ["http_proxy"] = plain.url()
        os.environ["https_proxy"] = secure.url()
        self.record_through()
        self.assertEqual(set(plain.asked), {("forward", HOST, 80), ("connect", HOST, 80)})
        self.assertEqual(set(secure.asked), {("connect", HOST, 443)})

    @unittest.skipUnless(BROWSER, "no Chromium")
    def test_a_page_in_a_browser_that_would_use_the_proxy_itself(self):
        proxy = self.proxy(self.secure)
        os.environ["https_proxy"] = proxy.url()
        done = harness.run("record", "-o", str(self.archive), "--browser", BROWSER, "--origin-ca",
                           str(self.tls.ca_file), f"https://{HOST}/page", folder=self.folder,
                           timeout=4 * harness.DEADLINE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(set(proxy.asked), {("connect", HOST, 443)})
        self.assertEqual(self.secure.requests[0].target, "/page")
        asked = list(proxy.asked)
        done = harness.run("load", str(self.archive), "--browser", BROWSER, folder=self.folder,
                           timeout=4 * harness.DEADLINE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(proxy.asked, asked)

    def test_exceptions_are_reached_directly(self):
        proxy = self.proxy(self.plain)
        os.environ["http_proxy"] = proxy.url()
        os.environ["NO_PROXY"] = "example.org, .test"
        recorder = self.recorder()
        self.assertEqual(self.get(recorder, "http", "/a").status, 502)
        self.assertEqual(proxy.asked, [])
        self.assertIn("cannot look up origin.test", recorder.log())
        self.assertEqual(recorder.stop(), 0)
        mapped = self.recorder(*self.plain.connect_arguments(), "--append")
        self.assertEqual(self.get(mapped, "http", "/a").body, b"plain /a")
        self.assertEqual(proxy.asked, [])
        self.assertEqual(mapped.stop(), 0)

    def test_a_proxy_that_refuses_is_explained_without_the_password(self):
        for scheme in ("http", "socks5"):
            proxy = self.proxy(self.plain)
            recorder = self.recorder("--append", "--upstream-proxy",
                                     proxy.url(scheme, password="wrong-" + PASSWORD))
            for listener in ("http", "https"):
                got = self.get(recorder, listener, "/a")
                self.assertEqual(got.status, 502)
                self.assertIn(b"password", got.body, recorder.log())
            self.assertEqual(proxy.asked, [])
            self.assertEqual(recorder.stop(), 0)
            self.assert_no_secret(recorder)

    def test_a_proxy_that_does_not_allow_a_host(self):
        proxy = self.proxy(self.plain)
        recorder = self.recorder("--upstream-proxy", proxy.url())
        with recorder.connect("https", "other.test") as client:
            got = client.get("/", "other.test")
        self.assertEqual(got.status, 502)
        self.assertIn(b"403 Not allowed", got.body)
        self.assertEqual(recorder.stop(), 0)

    def test_options_that_are_no_proxy_are_refused_without_repeating_them(self):
        for text in ("ftp://jane:topsecret@a", "http://jane:topsecret@", "http://a:b:c"):
            done = harness.run("record", "-o", str(self.archive), "--upstream-proxy", text,
                               folder=self.folder)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(b"--upstream-proxy: ", done.stderr)
            self.assertNotIn(b"topsecret", done.stderr)


if __name__ == "__main__":
    harness.main()
