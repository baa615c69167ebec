#!/usr/bin/env python3
"""The recorder between two ends that do not keep step: origins that answer early, fall silent or
close, clients that leave or end their side, and a stop in the middle of it all."""

import socket
import threading

import harness
from wire import Close, HOST, response


def upload_head(size, extra=b""):
    return (b"POST /up HTTP/1.1\r\nHost: origin.test\r\n" + extra +
            b"Content-Length: %d\r\n\r\n" % size)


class EarlyAnswers(harness.TestCase):
    """An origin that answers before it has read the request."""

    BODY = b"u" * 2_000_000
    HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly"

    def record_early(self, archive):
        """Sends the first half, waits for the answer, sends the rest."""
        def answer_at_once(connection, *_):
            connection.send(self.HEAD)
        origin = self.origin(lambda _: b"", before_body=answer_at_once)
        recorder = self.record(archive, origins=(origin,))
        with recorder.connect("http") as client:
            client.send(upload_head(len(self.BODY)) + self.BODY[:100_000])
            self.assertEqual(client.read_response().body, b"early")
            client.send(self.BODY[100_000:])
            # The next answer comes only after the origin has read this upload to its end.
            client.send(upload_head(1) + b"x")
            self.assertEqual(client.read_response().body, b"early")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        return origin

    def test_the_origin_gets_the_rest_of_the_request(self):
        origin = self.record_early(self.folder / "a.reprise")
        self.assertEqual(origin.requests[0].body, self.BODY)

    def test_the_whole_request_is_answered_from_the_archive(self):
        archive = self.folder / "a.reprise"
        self.record_early(archive)
        replay = self.replay(archive)
        with replay.connect("http") as client:
            client.send(upload_head(len(self.BODY)) + self.BODY)
            self.assertEqual(client.read_response().body, b"early")

    def test_an_expectation_that_was_refused_unseen_is_refused_again(self):
        def refuse(connection, *_):
            connection.send(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n"
                            b"Connection: close\r\n\r\n")
            raise Close
        archive = self.folder / "a.reprise"
        recorder = self.record(archive, origins=(self.origin(lambda _: b"", before_body=refuse),))
        expecting = upload_head(9, b"Expect: 100-continue\r\n")
        for server in (recorder, None):
            server = server or self.replay(archive)
            with server.connect("http") as client:
                client.send(expecting)
                self.assertEqual(client.read_head().status, 413)
            self.assertEqual(server.stop(), 0, server.log())


class Endings(harness.TestCase):
    def outcomes(self, archive):
        return [each["outcome"] for each in self.archive_json("ls", str(archive))]

    def test_an_idle_connection_that_the_origin_closed_costs_no_request(self):
        def once(request):
            yield response(request.method.encode())
            raise Close
        origin = self.origin(once)
        recorder = self.record(self.folder / "a.reprise", origins=(origin,))
        with recorder.connect("http") as client:
            for _ in range(3):
                origin.connection_ended.clear()
                client.send(upload_head(1) + b"x")
                self.assertEqual(client.read_response().body, b"POST")
                self.assertTrue(origin.connection_ended.wait(harness.DEADLINE_SECONDS))
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def test_a_client_that_ends_its_side_still_gets_its_answer(self):
        go = threading.Event()

        def later(_):
            self.assertTrue(go.wait(harness.DEADLINE_SECONDS))
            return response(b"late")
        recorder = self.record(self.folder / "a.reprise", origins=(self.origin(later),))
        with recorder.connect("http") as client:
            client.send(b"GET / HTTP/1.1\r\nHost: origin.test\r\n\r\n")
            client.sock.shutdown(socket.SHUT_WR)
            go.set()
            self.assertEqual(client.read_response().body, b"late")

    def test_a_client_that_leaves_ends_the_exchange_with_a_silent_origin(self):
        hold = threading.Event()
        asked = threading.Event()

        def never(_):
            asked.set()
            hold.wait(harness.DEADLINE_SECONDS)
            return b""
        archive = self.folder / "a.reprise"
        recorder = self.record(archive, origins=(self.origin(never),))
        client = recorder.connect("http")
        client.send(b"GET /long HTTP/1.1\r\nHost: origin.test\r\n\r\n")
        self.assertTrue(asked.wait(harness.DEADLINE_SECONDS))
        # A reset, as when a browser's tab is closed with an answer on its way.
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()
        self.assertEqual(recorder.stop(), 0, recorder.log())
        hold.set()
        self.assertIn("cut by client", self.outcomes(archive))

    def test_a_stop_sends_nothing_twice_and_blames_no_origin(self):
        hold = threading.Event()
        asked = threading.Event()

        def first_only(request):
            if request.target == "/slow":
                asked.set()
                hold.wait(harness.DEADLINE_SECONDS)
                raise Close
            return response(b"first")
        archive = self.folder / "a.reprise"
        origin = self.origin(first_only)
        recorder = self.record(archive, origins=(origin,))
        with recorder.connect("http") as client:
            self.assertEqual(client.get("/").body, b"first")
            client.send(b"GET /slow HTTP/1.1\r\nHost: origin.test\r\n\r\n")
            self.assertTrue(asked.wait(harness.DEADLINE_SECONDS))
            self.assertEqual(recorder.stop(), 0, recorder.log())
        hold.set()
        self.assertEqual([each.target for each in origin.requests], ["/", "/slow"])
        self.assertEqual(self.outcomes(archive), ["complete", "cut by client"])

    def test_a_dead_origin_is_told_also_in_the_middle_of_an_upload(self):
        [port] = harness.free_ports(harness.LOOPBACK)
        recorder = self.record(self.folder / "a.reprise", "--connect-to",
                               f"origin.test:80:127.0.0.1:{port}")
        body = b"u" * 5_000_000
        for _ in range(5):
            with recorder.connect("http") as client:
                sender = threading.Thread(target=client.send, args=(upload_head(len(body)) + body,))
                sender.start()
                self.assertEqual(client.read_response().status, 502)
                sender.join(harness.DEADLINE_SECONDS)

    def test_interim_responses_without_end_cost_the_recording_nothing(self):
        def chatty(_):
            return b"HTTP/1.1 102 Processing\r\n\r\n" * 2000 + response(b"done")
        archive = self.folder / "a.reprise"
        recorder = self.record(archive, origins=(self.origin(chatty),))
        with recorder.connect("http") as client:
            self.assertEqual(client.get("/").body, b"done")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assertEqual(self.outcomes(archive), ["complete"])


class Targets(harness.TestCase):
    def test_the_host_that_the_origin_sees_is_the_one_asked_for(self):
        origin = self.origin(lambda request: response(request.line))
        recorder = self.record(self.folder / "a.reprise", origins=(origin,))
        with recorder.connect("proxy") as client:
            client.send(b"GET http://origin.test?x HTTP/1.1\r\nHost: elsewhere.test\r\n\r\n")
            self.assertEqual(client.read_response().body, b"GET /?x HTTP/1.1")
        self.assertEqual(origin.requests[0].all(b"host"), [HOST.encode()])

    def test_a_host_that_leads_back_here_is_refused(self):
        recorder = self.record(self.folder / "a.reprise")
        port = recorder.address("http")[1]
        for host in ("127.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0", "localhost"):
            with self.subTest(host), recorder.connect("http") as client:
                got = client.get("/", host=f"{host}:{port}")
                self.assertEqual(got.status, 502)
                self.assertIn(b"itself", got.body)

    def test_thousands_of_connection_tokens_hold_nobody_up(self):
        origin = self.origin(lambda _: response(b"ok"))
        recorder = self.record(self.folder / "a.reprise", origins=(origin,))
        tokens = b",".join(b"a" for _ in range(100_000))
        fields = b"".join(b"X-%d: y\r\n" % i for i in range(9000))
        with recorder.connect("http") as client:
            got = client.get("/", headers=b"Connection: " + tokens + b"\r\n" + fields)
            self.assertEqual(got.status, 200)


if __name__ == "__main__":
    harness.main()
