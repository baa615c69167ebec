#!/usr/bin/env python3
"""Traces of servers: a shop with the Node emitter, recorded, its traces fetched where they have a
URL, looked at in `reprise view`, and named by `reprise explain`. Screenshots go to
$PAGE_SCREENSHOTS, where that is set."""

import json

import harness
import trench_shops
from page_case import HOSTILE, SHOWN
from trench_case import TrenchCase
from trench_shops import HOST
from wire import response



class Trench(TrenchCase):
    def recorded(self, port, paths, *arguments, name="shop"):
        """The archive of these requests, and what the recorder said."""
        archive = self.folder / f"{name}.reprise"
        recorder = self.record(archive, "--connect-to", f"{HOST}:80:127.0.0.1:{port}", *arguments)
        with recorder.connect("http", HOST) as client:
            for path in paths:
                self.assertEqual(client.get(path, HOST).status, 200)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assert_sound(archive)
        return archive, recorder.log()

    def test_a_shop_is_recorded_shown_and_explained(self):
        archive, said = self.recorded(trench_shops.start(self), ["/", "/cart", "/many"])
        self.assertIn("1 server trace fetched", said)
        urls = self.urls(archive)
        self.assertEqual(urls[:3], ["/", "/cart", "/many"])
        self.assertEqual(len(urls), 4)
        self.assertRegex(urls[3], "^/banky-trace/[0-9a-f]{32}$")

        calls = self.folder / "calls.ndjson"
        done = harness.run("explain", str(archive), "--json", "--calls", str(calls))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        # On a busy machine the time between requests weighs more.
        heaviest = [call["name"] for call in json.loads(done.stdout)["slices"][0]["calls"]
                    if call["name"].startswith("shop.")]
        self.assertEqual(heaviest[0], "shop.Tax.rate")
        names = [call["name"] for call in json.loads(calls.read_text())["calls"]]
        self.assertIn("shop.Part.number399", names)  # of the trace that was fetched
        self.assertFalse(any("banky-trace" in name for name in names))

        self.look_at_cart(archive)
        self.open(archive)
        self.assertEqual(len(self.texts(".waterfall .row")), 3)  # without the trace of /many
        self.assertIn("1 exchange is shown as the server's trace of another one.",
                      self.texts(".messages li"))
        self.assertEqual(self.widest_leaf(self.bars("#servers")), "shop.Tax.rate")
        self.choose_row("/cart")
        bars = self.bars()
        self.assertEqual(bars["shop.Cart.show"]["width"], max(b["width"] for b in bars.values()))
        self.assertEqual(self.widest_leaf(bars), "shop.Tax.rate")
        self.assertEqual(self.texts(".details .trench-points .link")[0], "rate")
        marks = self.texts(".details .trench-marks li")
        self.assertTrue(any(mark.startswith("Wide shop.Tax.rate") for mark in marks), marks)
        self.assertTrue(any(mark.startswith("Inset shop.Cart.show") for mark in marks), marks)
        self.assertTrue(any(mark.startswith("Deep shop.Cart.discount") for mark in marks), marks)

        self.choose_row("/many")
        self.assertEqual(len(self.texts(".details .trench-points .link")), 400)

    def test_the_servers_of_a_whole_load_are_one_graph(self):
        archive, _ = self.recorded(trench_shops.start(self), ["/cart", "/many", "/cart"])
        self.look("servers", archive)
        self.open(archive)
        self.assertIn(" for 3 requests to 1 host", self.texts("#servers .trench .said")[0])
        bars = self.bars("#servers")
        self.assertIn("in 3 requests", bars[HOST]["says"])
        self.assertEqual(bars[HOST]["width"], max(bar["width"] for bar in bars.values()))
        self.assertIn("in 4 calls", bars["shop.Tax.rate"]["says"])
        self.assertEqual(self.widest_leaf(bars), "shop.Tax.rate")
        # The graph is used by the keyboard; a bar leads to the rows of its requests.
        self.page.evaluate("document.querySelector('#servers .trench-bars').focus()")
        for _ in range(4):
            self.page.press("ArrowDown")
        self.assertIn("shop.Tax.rate", self.texts("#servers .trench-said")[0])
        self.page.press("Enter")
        zoomed = self.bars("#servers")
        self.assertEqual(zoomed["shop.Tax.rate"]["width"], zoomed[HOST]["width"])
        self.assertNotIn("shop.Discount.level12", zoomed)
        self.page.press("Escape")
        self.assertEqual(self.texts("#servers .trench-links .link"), ["GET cart"] * 2)
        self.choose("#load .controls input[type=search]", "many", "input")
        self.assertEqual(self.texts("#load .row .path"), ["many"])
        for link in self.page.evaluate("[...document.querySelectorAll('#servers .trench-links"
                                       " .link')].map((each, at) => at)"):
            self.page.evaluate("document.querySelectorAll('#servers .trench-links .link')"
                               f"[{link}].click()")
            self.page.settle()
            self.assertEqual(self.texts("#load .row[aria-selected=true] .path"), ["cart"])
            self.assertEqual(self.page.evaluate("document.activeElement.className"), "waterfall")
        self.assertEqual(len(self.texts("#load .row")), 3)  # the filter is gone
        self.choose("#servers .trench input[type=search]", "tax.r", "input")
        self.assertIn("1 code point", self.texts("#servers .trench .count")[0])
        self.assert_whole()

    def test_without_a_trace_there_is_no_graph(self):
        origin = self.origin(lambda request: response(b"page"))
        archive, _ = self.recorded(origin.port, ["/page"])
        self.open(archive)
        self.assertEqual(self.texts(".trench"), [])
        self.assertTrue(self.page.evaluate("document.querySelector('#servers').hidden"))

    def with_trace(self, name, rate_ms, discount_ms):
        """The archive of a page whose server says that its methods took so long."""
        trace = {"stack": [[0, 1, rate_ms + discount_ms + 5, [1, 2]],
                           [1, rate_ms // 10, rate_ms, []], [2, 1, discount_ms, []]],
                 "classes": ["shop.Cart"], "points": [[0, "show", 1], [0, "rate", 2],
                                                      [0, "discount", 3]]}
        answers = {"/cart": response(b"page", headers=b"Banky-Trace: url=/trace\r\n"),
                   "/trace": response(json.dumps(trace).encode())}
        origin = self.origin(lambda request: answers[request.target])
        return self.recorded(origin.port, ["/cart"], name=name)[0]

    def test_two_loads_are_subtracted(self):
        before = self.with_trace("before", rate_ms=20, discount_ms=40)
        after = self.with_trace("after", rate_ms=420, discount_ms=10)
        self.look("subtracted", before, after)
        self.open(before, after)
        place = "#pair .servers-of-two"
        self.assertEqual(self.texts(f"{place} .trench .said"), [
            "B’s servers take 370 ms more than A’s: 400 ms more in some methods, 30.0 ms less in "
            "others"])
        bars = self.bars(place)
        self.assertIn("rate, line 2: 400 ms longer in B, 40 calls more, +400 ms of its own "
                      "(A 20.0 ms in 2 calls, B 420 ms in 42 calls)",
                      bars["shop.Cart.rate"]["says"])
        self.assertIn("30.0 ms shorter in B", bars["shop.Cart.discount"]["says"])
        self.assertAlmostEqual(bars["shop.Cart.rate"]["width"] / bars[HOST]["width"], 400 / 430,
                               places=2)
        self.assertEqual(self.texts(f"{place} .trench-marks li"),
                         ["Longer in B shop.Cart.rate +400 ms"])
        self.assertEqual(self.texts(f"{place} .trench-points td"), [
            "A", "rateshop.Cart", "+40", "20.0 ms", "420 ms", "+400 ms",
            "B", "discountshop.Cart", "0", "40.0 ms", "10.0 ms", "−30.0 ms",
            "C", "showshop.Cart", "0", "5.0 ms", "5.0 ms", "0 ms"])
        # A screen reader is told the same.
        told = [(role, name) for _, role, name, _ in self.page.accessibility()]
        self.assertIn(("treeitem", bars["shop.Cart.rate"]["says"]), told)
        for role, name in (("radiogroup", "Graph"), ("region", "What the servers did"),
                           ("table", "Code points"), ("button", "Whole difference"),
                           ("searchbox", "Find")):
            self.assertIn((role, name), told)
        # The other way round, it is less.
        for at, name in enumerate(("after", "before"), 1):
            self.page.evaluate(f"""(() => {{
                const choice = document.querySelector('#pair label:nth-of-type({at}) select');
                choice.value = [...choice.options].find(each =>
                    each.textContent.startsWith('{name}')).value;
                choice.dispatchEvent(new Event('change')); }})()""")
            self.page.settle()
        self.assertEqual(self.texts(f"{place} .trench-marks li"),
                         ["Shorter in B shop.Cart.rate −400 ms"])
        self.page.evaluate(f"document.querySelector('{place} input[value=a]').click()")
        self.page.settle()
        self.assertEqual(self.texts(f"{place} .trench .said"),
                         ["435 ms for 1 request to 1 host, by the servers’ clocks"])

    def look_at_cart(self, archive):
        """Screenshots of the graph of one request, in all looks."""
        number = self.urls(archive).index("/cart") + 1
        self.look("trench", archive, fragment=f"#load=1&request={number}")

    def test_the_graph_is_used_by_the_keyboard_and_by_search(self):
        archive, _ = self.recorded(trench_shops.start(self), ["/cart"])
        self.open(archive)
        self.choose_row("/cart")
        self.page.evaluate("document.querySelector('.trench-bars').focus()")
        self.page.press("ArrowDown")
        self.assertIn("shop.Cart.show", self.texts(".details .trench-said")[0])
        self.page.press("ArrowDown")
        self.assertIn("shop.Tax.of", self.texts(".details .trench-said")[0])  # the widest
        before = self.bars()["shop.Tax.rate"]["width"]
        self.page.press("Enter")
        zoomed = self.bars()
        self.assertGreater(zoomed["shop.Tax.rate"]["width"], before * 1.1)
        self.assertEqual(zoomed["shop.Tax.of"]["width"], zoomed["shop.Cart.show"]["width"])
        self.assertNotIn("shop.Discount.level12", zoomed)
        self.page.press("ArrowLeft")
        self.assertIn("shop.Database.query", self.texts(".details .trench-said")[0])
        self.page.press("Escape")
        self.page.press("Escape")
        self.assertIn("shop.Discount.level12", self.bars())
        self.choose(".details .trench input[type=search]", "tax.r", "input")
        dim = self.texts(".details .trench-points tr.dim .link")
        self.assertIn("query", dim)
        self.assertNotIn("rate", dim)
        self.assertIn("1 code point", self.texts(".details .trench .count")[0])

    def test_traces_are_not_fetched_if_that_is_switched_off(self):
        archive, _ = self.recorded(trench_shops.start(self), ["/many"], "--trace-urls", "off")
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
        self.assertIn(SHOWN, self.texts(".details .trench-points .link"))
        self.assert_whole()
        for path, why in (("/cycle", "is its own caller"), ("/damaged", "is missing")):
            self.choose_row(path)
            self.assertIn(why, self.texts(".details .failure")[0])


if __name__ == "__main__":
    harness.main()
