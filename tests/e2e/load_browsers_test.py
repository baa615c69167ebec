#!/usr/bin/env python3
"""`reprise load` in Chromium and in Firefox: a recording gives the same record in both, and an
authority is trusted where that is asked for, and only there."""

import gzip
import json
import os
from unittest import mock

import harness
from inject_pages import BROWSERS, HOSTS, Pages
from wire import Certificate, response

FILES = {
    "/": (b"text/html", b"<!doctype html><title>x</title><link rel=icon href=data:,>"
          b"<link rel=stylesheet href=/style.css><script src=https://two.test/script.js></script>"
          b"<p>text</p><script>fetch('/data', {method: 'POST', body: 'x'})</script>"),
    "/style.css": (b"text/css", b"p { color: green }"),
    "/script.js": (b"text/javascript", b"document.title = 'ran'"),
    "/data": (b"text/plain", b"answer"),
}
SAME = ("url", "method", "resource_type", "status", "protocol", "mime_type", "failure",
        "from_cache", "body_sha256", "request_body_sha256")
NOWHERE = "http://127.0.0.1:1"


class LoadBrowsers(Pages):
    def answer(self, request):
        kind, body = FILES[request.target]
        return response(body, headers=b"Content-Type: " + kind + b"\r\n")

    def test_a_recording_gives_the_same_record_in_both(self):
        tls = Certificate(self.folder / "tls", HOSTS)
        origin = self.origin(self.answer, names=HOSTS, tls=tls)
        recorder = self.record(self.archive, origins=[origin])
        with recorder.connect("https", "one.test") as client:
            for path in ("/", "/style.css"):
                client.get(path, "one.test")
            client.send(b"POST /data HTTP/1.1\r\nHost: one.test\r\nContent-Type: "
                        b"text/plain;charset=UTF-8\r\nContent-Length: 1\r\n\r\nx")
            self.assertEqual(client.read_response("POST").status, 200)
        with recorder.connect("https", "two.test") as client:
            client.get("/script.js", "two.test")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        records = {}
        for browser in BROWSERS:
            result = self.folder / "loads.json"
            # A proxy of the environment would be outside of the replay.
            with mock.patch.dict(os.environ, dict.fromkeys(("http_proxy", "https_proxy"), NOWHERE)):
                done = harness.run("load", str(self.archive), "https://one.test/", "--browser",
                                   browser, "--inject", "none", "--timeout", "90", "-o",
                                   str(result), folder=self.folder, timeout=240)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            written = json.loads(result.read_text())
            (load,) = written["loads"]
            self.assertEqual(written["replays"][0]["report"]["misses"], 0)
            self.assertGreater(load["load_event_ms"], 0)
            self.assertGreaterEqual(load["load_event_ms"], load["dom_content_loaded_ms"])
            self.assertGreater(load["first_contentful_paint_ms"], 0)
            # Text.
            self.assertEqual(load["largest_contentful_paint_url"],
                             None if browser.startswith("firefox") else "")
            self.assertNotIn(str(self.folder), json.dumps(written["browser"]))
            # Firefox really asks for a style sheet that may not be cached twice.
            requests = {tuple(each[field] for field in SAME) for each in load["requests"]}
            records[browser] = (load["outcome"], load["final_url"], load["dom_sha256"],
                                load["console_errors"], load["remarks"], requests)
        self.assertEqual(len(next(iter(records.values()))[-1]), len(FILES))
        for browser, record in records.items():
            self.assertEqual(record, next(iter(records.values())), browser)

    def test_an_authority_is_trusted_when_told_so_and_not_otherwise(self):
        tls = Certificate(self.folder / "tls", ("localhost",))
        origin = self.origin(self.answer, names=("localhost",), tls=tls)
        for browser in BROWSERS:
            for trusted in ([], ["--ca", str(tls.ca_file)]):
                done = harness.run("load", "--live", f"https://localhost:{origin.port}/style.css",
                                   "--browser", browser, "--timeout", "90", *trusted,
                                   folder=self.folder, timeout=240)
                self.assertEqual(done.returncode, 0 if trusted else 1, done.stderr.decode())

    def test_a_trace_is_what_perfetto_reads(self):
        origin = self.origin(self.answer, names=("localhost",))
        traces = self.folder / "traces"
        url = f"http://localhost:{origin.port}/style.css"
        done = harness.run("load", "--live", url, "--trace", str(traces), "--timeout", "90",
                           folder=self.folder, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        (trace,) = traces.iterdir()
        self.assertEqual(trace.name, "load-0001.trace.json.gz")
        events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
        self.assertIn(url, [each["args"]["data"]["url"] for each in events
                            if each["name"] == "ResourceSendRequest"])
        done = harness.run("load", "--live", url, "--trace", str(traces), "--browser",
                           "firefox-esr", folder=self.folder, timeout=120)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--trace is not available with Firefox", done.stderr)

    def test_steps_are_read_before_any_load(self):
        steps = self.folder / "steps.json"
        steps.write_text('[{"click": "#a"}, {"clack": "#b"}]')
        done = harness.run("load", "--live", "http://localhost:9/", "--steps", str(steps),
                           folder=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"step 2 must be one of", done.stderr)


if __name__ == "__main__":
    harness.main()
