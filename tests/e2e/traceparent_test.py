#!/usr/bin/env python3
"""`record --traceparent`: requests of a page's own site carry a trace to their servers and into the
archive, whose replay is not changed by it."""

import re
import subprocess

import harness
from wire import Certificate, response

PAGE, IMAGES, ADS = "shop.test", "img.shop.test", "ads.test"
OWN_TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
DOCUMENT = f"""<!doctype html><title>x</title><link rel=icon href=data:,>
<img src=https://{IMAGES}/a.svg><script src=https://{ADS}/ad.js></script>
<script>fetch("/mine", {{headers: {{traceparent: "{OWN_TRACE}"}}}})</script>""".encode()
CONTENT = {"/": (DOCUMENT, b"text/html"), "/mine": (b"mine", b"text/plain"),
           "/a.svg": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"image/svg+xml"),
           "/ad.js": (b"1", b"text/javascript")}


def answer(request):
    content, kind = CONTENT[request.target]
    return response(content, headers=b"Content-Type: " + kind + b"\r\n")


class TraceParent(harness.TestCase):
    def setUp(self):
        super().setUp()
        names = (PAGE, IMAGES, ADS)
        self.site = self.origin(answer, names=names, tls=Certificate(self.folder, names))
        self.archive = self.folder / "page.reprise"

    def record_page(self, *arguments):
        done = subprocess.run(
            [harness.REPRISE, "record", "-o", str(self.archive), *self.site.connect_arguments(),
             *arguments, f"https://{PAGE}/"],
            capture_output=True, text=True, stdin=subprocess.DEVNULL,
            timeout=4 * harness.DEADLINE_SECONDS, env=harness.environment(self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_sound(self.archive)

    def traces(self):
        """The traceparent of each path, as the origin got it."""
        return {request.target: [value.decode() for value in request.all(b"traceparent")]
                for request in self.site.requests}

    def archived(self):
        """The same, as the archive has it."""
        traces = {}
        for number in range(1, len(CONTENT) + 1):
            request = self.archive_json("show", str(self.archive), str(number))["request"]
            path = "/" + request["url"].split("/", 3)[3]
            traces[path] = [value for name, value in request["headers"]
                            if name.lower() == "traceparent"]
        return traces

    def test_is_sent_to_the_pages_own_site_and_archived(self):
        self.record_page("--traceparent")
        traces = self.traces()
        self.assertEqual(set(traces), set(CONTENT))
        self.assertEqual(traces["/ad.js"], [])
        self.assertEqual(traces["/mine"], [OWN_TRACE])
        added = traces["/"] + traces["/a.svg"]
        for value in added:
            self.assertTrue(re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", value), value)
        self.assertEqual(len(set(added)), 2)
        self.assertEqual(self.archived(), traces)
        replay = self.replay(self.archive, "--strict")
        with replay.connect("https", host=PAGE) as client:
            self.assertEqual(client.get("/", host=PAGE).body, DOCUMENT)
        self.assertEqual(replay.stop(), 0, replay.log())

    def test_is_not_sent_without_the_option(self):
        self.record_page()
        self.assertEqual(self.traces()["/"], [])
        self.assertEqual(self.archived()["/a.svg"], [])


if __name__ == "__main__":
    harness.main()
