#!/usr/bin/env python3
"""What `reprise view` shows of a load's trace: frames, Speed Index, long tasks, the largest paint
and what blocks painting. Speed Index and visually complete are those of another implementation,
which decodes the frames in a browser. Two results have a verdict, and two loads stand side by
side."""

import copy
import gzip
import json
import random

import harness
import view_results
from page_case import PageCase
from wire import response

# The page is blocked for 180 ms once it has been painted.
PAGE = b"""<!doctype html><title>shop</title><link rel=stylesheet href=/style.css>
<script src=/blocks.js></script><script async src=/async.js></script>
<h1 class="large">Shoes</h1><p>small</p><img src=/late.svg width=300 height=200>
<script>new PerformanceObserver(() => setTimeout(() => {
  for (const end = performance.now() + 180; performance.now() < end;);
  document.body.style.background = 'teal';
}, 50)).observe({type: 'paint', buffered: true})</script>"""
FILES = {
    "/": (b"text/html", PAGE),
    "/style.css": (b"text/css", b"h1 { font-size: 90px; color: maroon }"),
    "/blocks.js": (b"text/javascript", b"window.a = 1"),
    "/async.js": (b"text/javascript", b"window.b = 1"),
    "/late.svg": (b"image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg" width="300" '
                  b'height="200"><rect width="300" height="200" fill="orange"/></svg>'),
}

# Speed Index and visually complete of [[ms, base64]], by the published formula.
OTHER_IMPLEMENTATION = """(async frames => {
  const histograms = [];
  for (const [, data] of frames) {
    const image = new Image();
    image.src = 'data:image/jpeg;base64,' + data;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
    canvas.drawImage(image, 0, 0);
    const {data: pixels} = canvas.getImageData(0, 0, image.width, image.height);
    const counts = new Map();
    for (let at = 0; at < pixels.length; at += 4) {
      const colours = [...pixels.slice(at, at + 3)];
      if (Math.min(...colours) >= 250) continue;
      colours.forEach((value, channel) => {
        const key = channel * 1000 + value;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      });
    }
    histograms.push(counts);
  }
  const final = histograms.at(-1);
  let all = 0;
  for (const count of final.values()) all += count;
  const complete = histograms.map(counts => {
    let has = 0;
    for (const [key, count] of final) has += Math.min(count, counts.get(key) ?? 0);
    return Math.floor(has / all * 100) / 100;
  });
  let index = frames[0][0];
  for (let at = 1; at < frames.length; at += 1) {
    index += (frames[at][0] - frames[at - 1][0]) * (1 - complete[at - 1]);
  }
  return [index, frames[complete.indexOf(1)][0]];
})"""


class ViewVisuals(PageCase, harness.TestCase):
    def make_page(self, file, *inputs):
        done = harness.run("view", *map(str, inputs), "-o", str(file), folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def answer(self, request):
        kind, body = FILES.get(request.target, (b"text/plain", b""))
        return response(body, headers=b"Content-Type: " + kind + b"\r\n")

    def loaded(self):
        origin = self.origin(self.answer, names=("localhost",))
        url = f"http://localhost:{origin.port}/"
        done = harness.run("load", "--live", url, "--trace", str(self.folder / "traces"),
                           "-o", str(self.folder / "result.json"),
                           folder=self.folder, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return url

    def frames_of_the_trace(self, url):
        """[[ms since the start of the page's request, base64]]."""
        (trace,) = (self.folder / "traces").iterdir()
        events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
        events.sort(key=lambda each: each.get("ts", 0))
        page = next(each for each in events if each["name"] == "navigationStart"
                    and each["args"].get("data", {}).get("documentLoaderURL") == url)
        start = next(each["ts"] for each in events if each["name"] == "fetchStart"
                     and each["args"]["frame"] == page["args"]["frame"]
                     and each["ts"] >= page["ts"])
        return [[(each["ts"] - start) / 1000, each["args"]["snapshot"]] for each in events
                if each["name"] == "Screenshot" and each["ts"] >= start]

    def test_what_a_trace_shows_is_on_the_page(self):
        url = self.loaded()
        self.open(self.folder / "result.json")
        self.assert_whole()
        tiles = dict(zip(self.texts(".tiles dt"), self.texts(".tiles dd")))
        visuals = self.page.evaluate(
            "JSON.parse(document.querySelector('#model').textContent).loads[0].visuals")
        # What is more than 50 ms of the 180, whatever else took time.
        self.assertGreaterEqual(visuals["total_blocking_ms"], 130)
        self.assertIn("Total blocking time", tiles)
        self.assertEqual(visuals["render_blocking"], [url + "style.css", url + "blocks.js"])
        blocking = self.page.evaluate("""[...document.querySelectorAll('.row')]
            .filter(row => row.querySelector('.is-blocking'))
            .map(row => row.querySelector('.path').textContent)""")
        self.assertEqual(sorted(blocking), ["blocks.js", "style.css"])
        self.assertIn("H1 class='large'", self.texts("#load .said b"))
        self.assertIn("Long tasks", self.texts(".chart b"))
        # The axis reaches to the end of what kept the page busy.
        ends = self.page.evaluate("""(() => {
            const path = [...document.querySelectorAll('.chart .area')].at(-1).getAttribute('d');
            return path.match(/[-.\\d]+,[-.\\d]+/g).map(each => Number(each.split(',')[1]));
        })()""")
        self.assertLess(min(ends), 20)
        loaded = self.page.evaluate("""Promise.all([...document.querySelectorAll('.filmstrip img')]
            .map(image => image.decode().then(() => image.naturalWidth > 0)))""")
        self.assertGreater(len(loaded), 1)
        self.assertTrue(all(loaded))
        self.assertEqual(self.texts(".filmstrip span")[-1], "100 %")
        frames = self.frames_of_the_trace(url)
        index, complete = self.page.evaluate(f"{OTHER_IMPLEMENTATION}({json.dumps(frames)})")
        print(f"Speed Index {visuals['speed_index_ms']:.1f} ms, by another implementation"
              f" {index:.1f} ms")
        self.assertAlmostEqual(visuals["speed_index_ms"], index, delta=index * 0.01)
        self.assertAlmostEqual(visuals["visually_complete_ms"], complete, delta=0.01)
        self.look("visuals", self.folder / "result.json")
        self.assert_pictures_are_told()

    def assert_pictures_are_told(self):
        """Frames, charts and figures have names that say what they show."""
        names = {}
        for _, role, name, _ in self.page.accessibility():
            names.setdefault(role, []).append(name)
        for role, start in (("image", "The page at "), ("image", "Download rate, at most "),
                            ("image", "Requests in flight, at most "),
                            ("image", "Long tasks, at most "), ("figure", "Critical chain: "),
                            ("list", "What was seen while the page loaded")):
            self.assertTrue([name for name in names[role] if name.startswith(start)],
                            f"{role} {start} among {names[role]}")

    def test_a_trace_that_is_gone_or_broken_is_named_and_the_rest_is_shown(self):
        load = view_results.load_of(1, 3, random.Random(1), {}, trace="traces/x.json")
        path = self.folder / "result.json"
        path.write_text(json.dumps(view_results.result_of([load])))
        (self.folder / "x.json").write_text('{"traceEvents":[{"name":')
        for said in (b"x.json: its frames are not shown", b"No such file"):
            done = harness.run("view", str(path), "-o", str(self.folder / "page.html"),
                               folder=self.folder)
            self.assertEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)
            (self.folder / "x.json").unlink(missing_ok=True)

    def two_results(self):
        """B has a request later than A, and one less."""
        for name, later in (("a", 0), ("b", 900)):
            loads = [view_results.load_of(run, 30, random.Random(4), view_results.configuration())
                     for run in range(1, 8)]
            for load in loads:
                moved = load["requests"][6]
                for field in ("start_ms", "response_ms", "end_ms"):
                    moved[field] += later
                moved["timing"] = {each: at and at + later for each, at in moved["timing"].items()}
                if later:
                    load["gone"] = load["requests"].pop(12)["url"]
                    load["moved"] = moved["url"]
                    load["load_event_ms"] += later
                    load["requests"].sort(key=lambda each: each["start_ms"])
            (self.folder / f"{name}.json").write_text(json.dumps(view_results.result_of(loads)))
        return copy.deepcopy(loads[1])

    def test_two_results_have_a_verdict_and_their_loads_stand_side_by_side(self):
        load = self.two_results()
        inputs = (self.folder / "a.json", self.folder / "b.json")
        self.look("pair", *inputs)
        self.open(*inputs)
        done = harness.run("compare", *map(str, inputs), "--json")
        verdict = json.loads(done.stdout)
        self.assertTrue(verdict["refusals"])  # other requests
        self.assertIn(verdict["refusals"][0]["text"], self.texts("#verdict .failure")[0])
        self.assertEqual(self.page.evaluate(
            "document.querySelector('#pair .waterfall').getAttribute('aria-rowcount')"), "30")
        self.page.evaluate("document.querySelector('#pair .check input').click()")
        self.page.settle()
        rows = dict(zip(self.texts("#pair .row .path"), self.texts("#pair .row .state")))
        self.assertEqual(rows, {load["gone"].rsplit("/", 1)[1]: "only A",
                                load["moved"].rsplit("/", 1)[1]: "moved"})
        self.assertIn("+900 ms", self.texts("#pair .row .shift"))
        self.page.evaluate("document.querySelector('#pair .waterfall').focus()")
        self.page.press("ArrowDown")
        self.assertEqual(len(self.texts("#pair .row[aria-selected=true]")), 1)

    def test_the_verdict_is_that_of_compare(self):
        paths = []
        for name, slower in (("a", 1), ("b", 1.2)):
            chance = random.Random(4)
            loads = [view_results.load_of(run, 10, chance, view_results.configuration())
                     for run in range(1, 12)]
            for load in loads:
                load["load_event_ms"] *= slower
            paths.append(self.folder / f"{name}.json")
            paths[-1].write_text(json.dumps(view_results.result_of(loads)))
        self.open(*paths)
        verdict = json.loads(harness.run("compare", *map(str, paths), "--json").stdout)
        self.assertEqual(self.page.evaluate("document.querySelector('p.verdict').className"),
                         f"verdict {verdict['verdict']}")
        self.assertEqual(self.texts("#verdict td:last-child"),
                         [each["verdict"] for each in verdict["pages"][0]["metrics"]])


if __name__ == "__main__":
    harness.main()
