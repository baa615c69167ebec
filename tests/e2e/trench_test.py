#!/usr/bin/env python3
"""Traces of servers: a shop with the Node emitter, recorded, its traces fetched where they have a
URL, looked at in `reprise view`, and named by `reprise explain`. Screenshots go to
$PAGE_SCREENSHOTS, where that is set."""

import json
import os
import pathlib
import subprocess

import harness
from page_case import HOSTILE, SHOWN, PageCase
from wire import response

SHOP = pathlib.Path(__file__).resolve().parent / "trench" / "shop.cjs"
HOST = "shop.test"


class Trench(PageCase):
    def make_page(self, file, *inputs):
        done = harness.run("view", *map(str, inputs), "-o", str(file), folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def shop(self):
        process = subprocess.Popen(["node", str(SHOP)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE,
                                   env={**os.environ, "BANKY_TRACE": "on"})

        def end():
            process.stdin.close()
            process.wait(harness.DEADLINE_SECONDS)
            process.stdout.close()
        self.addCleanup(end)
        return int(process.stdout.readline())

    def recorded(self, port, paths, *arguments):
        """The archive of these requests, and what the recorder said."""
        archive = self.folder / "shop.reprise"
        recorder = self.record(archive, "--connect-to", f"{HOST}:80:127.0.0.1:{port}", *arguments)
        with recorder.connect("http", HOST) as client:
            for path in paths:
                self.assertEqual(client.get(path, HOST).status, 200)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assert_sound(archive)
        return archive, recorder.log()

    def urls(self, archive):
        return [each["url"].removeprefix(f"http://{HOST}")
                for each in self.archive_json("ls", str(archive))]

    def test_a_shop_is_recorded_shown_and_explained(self):
        archive, said = self.recorded(self.shop(), ["/", "/cart", "/many"])
        self.assertIn("1 server trace fetched", said)
        urls = self.urls(archive)
        self.assertEqual(urls[:3], ["/", "/cart", "/many"])
        self.assertEqual(len(urls), 4)
        self.assertRegex(urls[3], "^/banky-trace/[0-9a-f]{32}$")

        calls = self.folder / "calls.ndjson"
        done = harness.run("explain", str(archive), "--json", "--calls", str(calls))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        heaviest = json.loads(done.stdout)["slices"][0]["calls"][0]
        self.assertIn("shop.Tax.rate", heaviest["name"])
        names = [call["name"] for call in json.loads(calls.read_text())["calls"]]
        self.assertIn("shop.Part.number399", names)  # of the trace that was fetched
        self.assertFalse(any("banky-trace" in name for name in names))

        self.look_at_cart(archive)
        self.open(archive)
        self.assertEqual(len(self.texts(".waterfall .row")), 3)  # without the trace of /many
        self.assertIn("1 exchange is shown as the server's trace of another one.",
                      self.texts(".messages li"))
        self.choose_row("/cart")
        bars = self.bars()
        self.assertEqual(bars["shop.Cart.show"]["width"], max(b["width"] for b in bars.values()))
        leaves = {name: bar["width"] for name, bar in bars.items()
                  if "calls nothing" in bar["says"]}
        self.assertEqual(max(leaves, key=leaves.get), "shop.Tax.rate")
        self.assertEqual(self.texts(".trench-points .link")[0], "rate")
        marks = self.texts(".trench-marks li")
        self.assertTrue(any(mark.startswith("Wide shop.Tax.rate") for mark in marks), marks)
        self.assertTrue(any(mark.startswith("Inset shop.Cart.show") for mark in marks), marks)
        self.assertTrue(any(mark.startswith("Deep shop.Cart.discount") for mark in marks), marks)

        self.choose_row("/many")
        self.assertEqual(len(self.texts(".trench-points .link")), 400)

    def look_at_cart(self, archive):
        """Screenshots of the graph, in all looks."""
        for width, height, dark in [(1280, 1000, False), (1280, 1000, True), (360, 740, True)]:
            self.open(archive, width=width, height=height, dark=dark, phone=width < 500)
            self.choose_row("/cart")
            self.assert_whole()
            if self.screenshots:
                folder = pathlib.Path(self.screenshots)
                folder.mkdir(parents=True, exist_ok=True)
                look = f"trench-{width}-{'dark' if dark else 'light'}.png"
                self.page.screenshot(folder / look, whole=True)

    def choose_row(self, name):
        """By the keyboard."""
        self.page.evaluate("document.querySelector('.waterfall').focus()")
        self.page.press("Home")
        for _ in range(8):
            if self.texts(".row[aria-selected=true] .path") == [name.removeprefix("/") or "/"]:
                return
            self.page.press("ArrowDown")
        self.fail(f"no row {name}")

    def bars(self):
        """Width and description of each bar, by the name of its point."""
        bars = self.page.evaluate(
            "[...document.querySelectorAll('.trench-bar')].map(e => [e.title,"
            " e.getBoundingClientRect().width])")
        return {says.split(",")[0]: {"says": says, "width": width} for says, width in bars}

    def test_the_graph_is_used_by_the_keyboard_and_by_search(self):
        archive, _ = self.recorded(self.shop(), ["/cart"])
        self.open(archive)
        self.choose_row("/cart")
        self.page.evaluate("document.querySelector('.trench-bars').focus()")
        self.page.press("ArrowDown")
        self.assertIn("shop.Cart.show", self.texts(".trench-said")[0])
        self.page.press("ArrowDown")
        self.assertIn("shop.Tax.of", self.texts(".trench-said")[0])  # the widest
        before = self.bars()["shop.Tax.rate"]["width"]
        self.page.press("Enter")
        zoomed = self.bars()
        self.assertGreater(zoomed["shop.Tax.rate"]["width"], before * 1.1)
        self.assertEqual(zoomed["shop.Tax.of"]["width"], zoomed["shop.Cart.show"]["width"])
        self.assertNotIn("shop.Discount.level12", zoomed)
        self.page.press("ArrowLeft")
        self.assertIn("shop.Database.query", self.texts(".trench-said")[0])
        self.page.press("Escape")
        self.page.press("Escape")
        self.assertIn("shop.Discount.level12", self.bars())
        self.choose(".trench input[type=search]", "tax.r", "input")
        dim = self.texts(".trench-points tr.dim .link")
        self.assertIn("query", dim)
        self.assertNotIn("rate", dim)
        self.assertIn("1 code point", self.texts(".trench .count")[0])

    def test_traces_are_not_fetched_if_that_is_switched_off(self):
        archive, _ = self.recorded(self.shop(), ["/many"], "--trace-urls", "off")
        self.assertEqual(self.urls(archive), ["/many"])

    def test_hostile_traces_leave_the_recording_as_it_is(self):
        trace = {"version": 1, "stack": [[0, 1, 5, []]], "classes": [[HOSTILE]],
                 "points": [[0, HOSTILE, -1]]}
        answers = {
            "/page": response(b"page", headers=b"Banky-Trace: url=/trace\r\n"),
            "/trace": response(json.dumps(trace).encode()),
            "/other": response(b"page", headers=b"Banky-Trace: url=http://other.test/t\r\n"),
            "/gone": response(b"page", headers=b"Banky-Trace: url=/missing\r\n"),
            "/missing": response(b"", b"404 Not Found"),
            "/cycle": response(b"page", headers=b"Banky-Trace: url=/circle\r\n"),
            "/circle": response(b'{"stack":[[0,1,1,[0]]],"classes":["A"],"points":[[0,"a",1]]}'),
            "/damaged": response(b"page", headers=b"Banky-Trace: base64lines=2; base64bytes=4; "
                                                  b"jsoncrc32=1; jsonbytes=3\r\n")}
        origin = self.origin(lambda request: answers[request.target])
        archive, said = self.recorded(origin.port, ["/page", "/other", "/gone", "/cycle",
                                                    "/damaged"])
        self.assertIn("2 server traces fetched; 2 server traces not fetched", said)
        self.assertEqual(sorted(self.urls(archive)), ["/circle", "/cycle", "/damaged", "/gone",
                                                      "/other", "/page", "/trace"])
        self.open(archive)
        self.choose_row("/page")
        self.assertIn(SHOWN, self.texts(".trench-points .link"))
        self.assert_whole()
        for path, why in (("/cycle", "is its own caller"), ("/damaged", "is missing")):
            self.choose_row(path)
            self.assertIn(why, self.texts(".details .failure")[0])


if __name__ == "__main__":
    harness.main()
