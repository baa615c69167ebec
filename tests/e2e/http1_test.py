#!/usr/bin/env python3
"""HTTP/1.1 between client and proxy as RFC 9110 and 9112 have it: connections that last, pipelines,
100-continue, interim responses, request bodies with trailers, and what is refused."""

import statistics
import threading
import time

import harness
from wire import Close, HOST, response


def echo(request):
    """Says what the origin was asked."""
    trailers = b"".join(name + b"=" + value for name, value in request.trailers)
    return response(request.line + b"|" + request.body + b"|" + trailers)


def post(path, body):
    return (b"POST %b HTTP/1.1\r\nHost: origin.test\r\nContent-Length: %d\r\n\r\n%b"
            % (path, len(body), body))


class Http1(harness.TestCase):
    def proxies(self, answer, exchange, **origin_options):
        """Runs `exchange(proxy)` on a recorder, and again on a replay with the origin off."""
        archive = self.folder / "a.reprise"
        origin = self.origin(answer, **origin_options)
        recorder = self.record(archive, origins=(origin,))
        with self.subTest("record"):
            exchange(recorder)
            self.assertEqual(recorder.stop(), 0, recorder.log())
        origin.close()
        replay = self.replay(archive)
        with self.subTest("replay"):
            exchange(replay)
            self.assertEqual(replay.stop(), 0, replay.log())
        return origin

    def test_one_connection_serves_many_requests(self):
        def exchange(proxy):
            with proxy.connect("http") as client:
                for i in range(20):
                    self.assertEqual(client.get(f"/{i}").body, b"GET /%d HTTP/1.1||" % i)
        self.proxies(echo, exchange)

    def test_no_large_response_waits_for_a_timer(self):
        """A sender that holds its last part back for a timer takes 65 ms each time, and not 1. The
        fastest tenth, since a busy machine delays others."""
        def exchange(proxy):
            seconds = []
            with proxy.connect("http") as client:
                for _ in range(200):
                    started = time.monotonic()
                    self.assertEqual(len(client.get("/large").body), 102_400)
                    seconds.append(time.monotonic() - started)
            self.assertLess(statistics.quantiles(seconds, n=10)[0], 0.04)
        self.proxies(lambda request: response(bytes(102_400)), exchange)

    def test_a_pipeline_is_answered_in_order(self):
        def exchange(proxy):
            with proxy.connect("http") as client:
                client.send(b"".join(b"GET /%d HTTP/1.1\r\nHost: origin.test\r\n\r\n" % i
                                     for i in range(10)))
                for i in range(10):
                    self.assertEqual(client.read_response().body, b"GET /%d HTTP/1.1||" % i)
        self.proxies(echo, exchange)

    def test_a_connection_ends_when_the_client_says_so(self):
        def exchange(proxy):
            with proxy.connect("http") as client:
                client.get("/last", headers=b"Connection: close\r\n")
                self.assertTrue(client.closed_by_peer())
        self.proxies(echo, exchange)

    def test_an_http_1_0_client_gets_no_chunks(self):
        def chunked(_):
            return (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                    b"5\r\nhello\r\n0\r\n\r\n")

        def exchange(proxy):
            with proxy.connect("http") as client:
                client.send(b"GET / HTTP/1.0\r\nHost: origin.test\r\n\r\n")
                got = client.read_response()
                self.assertNotEqual(got.framing, "chunked")
                self.assertEqual(got.body, b"hello")
                self.assertTrue(client.closed_by_peer())
        self.proxies(chunked, exchange)

    def test_a_request_body_goes_through_with_its_trailers(self):
        def exchange(proxy):
            with proxy.connect("http") as client:
                client.send(b"POST /form HTTP/1.1\r\nHost: origin.test\r\n"
                            b"Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n"
                            b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n")
                self.assertEqual(client.read_response().body, b"POST /form HTTP/1.1|abcde|X-Sum=5")
                client.send(post(b"/form", b"xyz"))
                self.assertEqual(client.read_response().body, b"POST /form HTTP/1.1|xyz|")
        self.proxies(echo, exchange)

    def test_bodies_of_requests_tell_them_apart(self):
        def exchange(proxy):
            with proxy.connect("http") as client:
                for body in (b"one", b"two", b"four"):
                    client.send(post(b"/p", body))
                    self.assertEqual(client.read_response().body, b"POST /p HTTP/1.1|%b|" % body)
        self.proxies(echo, exchange)

    def test_a_client_that_expects_100_gets_it_before_its_body(self):
        def exchange(proxy):
            with proxy.connect("http") as client:
                client.send(b"PUT /big HTTP/1.1\r\nHost: origin.test\r\n"
                            b"Expect: 100-continue\r\nContent-Length: 4\r\n\r\n")
                self.assertEqual(client.read_head().status, 100)
                client.send(b"data")
                self.assertEqual(client.read_response().body, b"PUT /big HTTP/1.1|data|")

        def permit(connection, _line, headers):
            if any(name.lower() == b"expect" for name, _ in headers):
                connection.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.proxies(echo, exchange, before_body=permit)

    def test_a_refused_expectation_reaches_the_client_instead_of_100(self):
        refusal = response(b"too big", status=b"413 Content Too Large")

        def refuse(connection, _line, _headers):
            connection.send(refusal)
            raise Close
        origin = self.origin(echo, before_body=refuse)
        recorder = self.record(self.folder / "a.reprise", origins=(origin,))
        with recorder.connect("http") as client:
            client.send(b"PUT /big HTTP/1.1\r\nHost: origin.test\r\n"
                        b"Expect: 100-continue\r\nContent-Length: 4\r\n\r\n")
            got = client.read_response()
        self.assertEqual((got.status, got.body), (413, b"too big"))
        self.assertNotIn(100, [each.status for each in got.interim])
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def test_early_hints_arrive_before_the_response_is_made(self):
        seen = threading.Event()

        def hinting(_):
            yield b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n"
            self.assertTrue(seen.wait(harness.DEADLINE_SECONDS))
            yield response(b"page")

        def exchange(proxy):
            with proxy.connect("http") as client:
                client.send(b"GET / HTTP/1.1\r\nHost: origin.test\r\n\r\n")
                hint = client.read_head()
                self.assertEqual(hint.status, 103)
                self.assertEqual(hint.all(b"link"), [b"</s.css>; rel=preload"])
                seen.set()
                self.assertEqual(client.read_response().body, b"page")
        self.proxies(hinting, exchange)

    def test_an_upgrade_is_refused_and_the_request_answered(self):
        def plain(request):
            self.assertEqual(request.all(b"upgrade"), [])
            return response(b"no h2 here")

        def exchange(proxy):
            with proxy.connect("http") as client:
                got = client.get("/chat", headers=b"Connection: Upgrade, HTTP2-Settings\r\n"
                                 b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n")
                self.assertNotEqual(got.status, 101)
                self.assertFalse(got.cut)
        origin = self.proxies(plain, exchange)
        self.assertEqual(origin.failures, [])

    def test_hop_by_hop_headers_stay_on_their_hop(self):
        origin = self.origin(echo)
        recorder = self.record(self.folder / "a.reprise", origins=(origin,))
        with recorder.connect("proxy") as client:
            client.get("/x", form="absolute", headers=b"Connection: X-Hop\r\nX-Hop: 1\r\n"
                       b"Proxy-Connection: keep-alive\r\nX-End: 2\r\n")
        [request] = origin.requests
        self.assertEqual(request.all(b"x-hop") + request.all(b"proxy-connection"), [])
        self.assertEqual(request.all(b"x-end"), [b"2"])
        self.assertEqual((request.target, request.all(b"host")), ("/x", [HOST.encode()]))

    def test_request_headers_reach_the_origin_in_order_and_case(self):
        origin = self.origin(echo)
        recorder = self.record(self.folder / "a.reprise", origins=(origin,))
        odd = [(b"x-oDD", b"1"), (b"Accept", b"a/b"), (b"X-ODD", b"2"), (b"cookie", b"a=b; c=d")]
        with recorder.connect("http") as client:
            client.get("/", headers=b"".join(b"%s: %s\r\n" % each for each in odd))
        [request] = origin.requests
        own = [each for each in request.headers if each[0] not in (b"Host", b"Connection")]
        self.assertEqual(own, odd)


class Refused(harness.TestCase):
    """Requests that two parsers could read in two ways, or that are no requests at all."""

    REFUSED = {
        "two lengths": b"POST / HTTP/1.1\r\nHost: origin.test\r\nContent-Length: 3\r\n"
                       b"Content-Length: 4\r\n\r\nabcd",
        "length and chunked": b"POST / HTTP/1.1\r\nHost: origin.test\r\nContent-Length: 3\r\n"
                              b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "unknown coding": b"POST / HTTP/1.1\r\nHost: origin.test\r\nTransfer-Encoding: x\r\n\r\n",
        "negative length": b"POST / HTTP/1.1\r\nHost: origin.test\r\nContent-Length: -1\r\n\r\n",
        "no host": b"GET / HTTP/1.1\r\n\r\n",
        "two hosts": b"GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n",
        "space before colon": b"GET / HTTP/1.1\r\nHost : origin.test\r\n\r\n",
        "folded line": b"GET / HTTP/1.1\r\nHost: origin.test\r\nX: a\r\n b\r\n\r\n",
        "NUL in a value": b"GET / HTTP/1.1\r\nHost: origin.test\r\nX: a\0b\r\n\r\n",
        "not HTTP": b"\x00\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n",
    }

    def test_each_is_refused_and_the_recorder_goes_on(self):
        origin = self.origin(echo)
        archive = self.folder / "a.reprise"
        recorder = self.record(archive, origins=(origin,))
        for name, data in self.REFUSED.items():
            with self.subTest(name), recorder.connect("http") as client:
                client.send(data)
                got = client.read_response()
                self.assertIn(got.status, (400, 501))
                self.assertTrue(client.closed_by_peer())
        self.assertEqual(origin.requests, [])
        with recorder.connect("http") as client:
            self.assertEqual(client.get("/after").status, 200)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assertEqual(len(self.archive_json("ls", str(archive))), 1)

    def test_a_client_that_takes_the_listener_for_a_proxy_is_told(self):
        recorder = self.record(self.folder / "a.reprise", origins=(self.origin(echo),))
        for _ in range(2):
            with recorder.connect("http") as client:
                client.send(b"CONNECT origin.test:443 HTTP/1.1\r\nHost: origin.test:443\r\n\r\n")
                got = client.read_response()
                self.assertEqual(got.status, 400)
                self.assertIn(b"this listener is not a proxy", got.body)
                self.assertTrue(client.closed_by_peer())
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assertEqual(recorder.log().count("as a proxy"), 1, recorder.log())

    def test_an_endless_head_is_given_up(self):
        recorder = self.record(self.folder / "a.reprise", origins=(self.origin(echo),))
        with recorder.connect("http") as client, \
             self.assertRaises((BrokenPipeError, ConnectionResetError, EOFError)):
            for i in range(1 << 20):
                client.send(b"GET / HTTP/1.1\r\n" if i == 0 else b"X-%d: %s\r\n" % (i, b"a" * 1000))
        with recorder.connect("http") as client:
            self.assertEqual(client.get("/after").status, 200)
        self.assertEqual(recorder.stop(), 0, recorder.log())


if __name__ == "__main__":
    harness.main()
