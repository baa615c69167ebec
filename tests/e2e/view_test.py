#!/usr/bin/env python3
"""`reprise view`: its page, looked at in a real browser, light and dark, wide and narrow. Prints
how long drawing takes. Screenshots go to $PAGE_SCREENSHOTS, where that is set."""

import json
import pathlib
import random
import stat

import harness
import view_results
from page_case import HOSTILE, SHOWN, PageCase
from wire import Certificate, response

ROWS_DRAWN_MAX = 80
NODES_MAX = 3000


class View(harness.TestCase):
    def view(self, *arguments):
        return harness.run("view", *map(str, arguments), folder=self.folder)

    def result(self, loads, name="loads.json"):
        path = self.folder / name
        path.write_text(json.dumps(view_results.result_of(loads)))
        return path


class ViewCommand(View):
    def test_the_page_stands_beside_its_input_for_its_owner_alone(self):
        path = self.result([view_results.load_of(1, 3, random.Random(1), {})])
        done = self.view(path)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        page = pathlib.Path(f"{path}.html")
        self.assertIn(f"wrote {page}: 1 load, 3 requests", done.stderr.decode())
        self.assertEqual(stat.S_IMODE(page.stat().st_mode), 0o600)
        self.assertEqual(self.view(path, "-o", "-").stdout, page.read_bytes())

    def test_what_is_no_input_is_refused_and_an_older_page_stays(self):
        page = self.folder / "page.html"
        page.write_text("old")
        damaged = self.folder / "damaged.reprise"
        damaged.write_bytes(b"REPRISE\0" + b"\xff" * 40)
        wrong = {"none.json": None, "text.json": "{", "other.json": '{"schema":"x/1"}',
                 "empty.json": "", "deep.json": "[" * 100_000}
        for name, text in wrong.items():
            path = self.folder / name
            if text is not None:
                path.write_text(text)
            done = self.view(path, "-o", page)
            self.assertEqual(done.returncode, 1, name)
            self.assertIn(str(path).encode(), done.stderr)
        self.assertEqual(self.view(self.folder, "-o", page).returncode, 1)
        self.assertEqual(self.view(damaged, "-o", page).returncode, 3)
        self.assertEqual(page.read_text(), "old")
        self.assertEqual(self.view("-o", page).returncode, 2)
        fine = self.result([])
        self.assertEqual(self.view(fine, "-o", self.folder / "none" / "page.html").returncode, 1)
        self.assertEqual(self.view(fine, "-o", page).returncode, 0)
        self.assertNotEqual(page.read_text(), "old")

    def test_two_results_have_the_verdict_of_their_gate_or_of_compare(self):
        paths = []
        for name, digest in (("a", "ab"), ("b", "cd")):
            loads = [view_results.load_of(run, 5, random.Random(4), view_results.configuration())
                     for run in range(1, 12)]
            paths.append(self.folder / f"{name}.json")
            paths[-1].write_text(json.dumps({**view_results.result_of(loads),
                                             "archive_sha256": digest * 32}))
        compared = harness.run("compare", *map(str, paths), "--allow", "archive", "--metric",
                               "load", "--json")
        verdict = {**json.loads(compared.stdout), "gate": {"end": "decided", "runs": 10, "seed": 1}}
        beside, remark = "as in verdict.json beside them", "the gate ended after 10 loads a side"
        compare, archives = "as by reprise compare", "A was loaded from shop.reprise"
        for seed, source, said in ((None, compare, archives), (1, beside, remark),
                                   (2, compare, archives)):
            if seed:
                verdict["gate"]["seed"] = seed
                (self.folder / "verdict.json").write_text(json.dumps(verdict))
            page = self.view(*paths, "-o", "-").stdout.decode()
            self.assertIn(f'"verdict":"same","source":"{source}","refusals":[]', page)
            self.assertIn(said, page)
            self.assertNotIn("A and B cannot be compared: A", page)
        self.assertIn('"source":"as by reprise compare"',
                      self.view(*reversed(paths), "-o", "-").stdout.decode())

    def test_the_page_never_replaces_an_input(self):
        path = self.result([view_results.load_of(1, 3, random.Random(1), {})])
        before = path.read_bytes()
        other = self.folder / "loads.json.html"
        other.write_bytes(before)
        for arguments in ((path, "-o", path), (path, other)):
            done = self.view(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"FILE and -o are the same file", done.stderr)
        self.assertEqual((path.read_bytes(), other.read_bytes()), (before, before))


class ViewPage(PageCase, View):
    def make_page(self, file, *inputs):
        done = self.view(*inputs, "-o", file)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def names(self):
        return self.texts(".waterfall .row .path")

    def row_count(self):
        return int(self.page.evaluate(
            "document.querySelector('.waterfall').getAttribute('aria-rowcount')"))

    def test_one_load_is_shown_as_it_is_in_the_data(self):
        load = view_results.load_of(2, 48, random.Random(3), view_results.configuration())
        self.look("load", self.result([load]))
        self.open(self.result([load]))
        self.assertEqual(self.row_count(), 48)
        drawn = self.names()
        wanted = [each["url"].rsplit("/", 1)[1] or "/" for each in load["requests"]]
        self.assertEqual(drawn, wanted[:len(drawn)])
        self.assertGreater(len(drawn), 20)
        tiles = dict(zip(self.texts(".tiles dt"), self.texts(".tiles dd")))
        self.assertEqual(tiles["Load event"], f"{round(load['load_event_ms']):,} ms")
        self.assertEqual(tiles["Requests"], "48")
        self.assertEqual(self.page.evaluate("document.querySelectorAll('.line.mark').length"), 6)
        self.assertEqual(self.page.evaluate("document.querySelectorAll('.flag').length"), 6)
        # The chain: from the document to what ended last before the load event.
        self.page.evaluate("document.querySelector('.check input').click()")
        self.page.settle()
        last = max((each for each in load["requests"] if each["end_ms"] <= load["load_event_ms"]),
                   key=lambda each: each["end_ms"])
        chain = self.names()
        self.assertEqual((chain[0], chain[-1]), ("/", last["url"].rsplit("/", 1)[1]))
        self.assertEqual(self.page.evaluate("document.querySelectorAll('.row.critical').length"),
                         len(chain))

    def test_what_the_link_did_is_under_the_requests_that_it_carried(self):
        load = view_results.load_of(1, 48, random.Random(3), view_results.configuration())
        spans = round(load["last_load_ms"] / 10) + 20
        rate = [0 if span < 20 else 8_000_000 for span in range(spans)]
        timeline = {"width_ms": 10, "start_ms": 900,
                    "down": {"rate_bps": rate, "queue_bytes": [bits // 100 for bits in rate],
                             "drops": [1] * 3},
                    "up": {"packets": [0] * 10 + [2] * (spans - 10)}}
        link = {"link_text": "9mbit", "link": {"rtt_ms": 60, "down": {"rate_bps": 9_000_000}},
                "doubts": ["late"], "timeline": timeline}
        result = view_results.result_of([dict(load, replay=0)])
        result["replays"] = [{"run": 1, "exit_code": 0, "report": {"link": link}}]
        path = self.folder / "link.json"
        path.write_text(json.dumps(result))
        self.look("link", path)
        self.open(path)
        self.assertEqual(self.texts(".chart b"),
                         ["Link rate, down", "Link queue, down", "Requests in flight"])
        self.assertIn("dashed: the link\u2019s 9.0 Mbit/s", self.texts(".chart .limit"))
        self.assertIn("3 packets dropped", self.texts(".chart span"))
        self.assertIn("late", self.texts(".messages li"))
        # The link's first packet up, in span 10, is the load's first: span 20, in which the rate
        # rises, begins 100 ms after the first look-up.
        first = min(each["timing"]["dns_start_ms"] for each in load["requests"]
                    if each["timing"]["dns_start_ms"] is not None)
        share = self.page.evaluate("""(() => {
            const path = document.querySelector('.chart .area').getAttribute('d');
            const points = path.match(/[-.\\d]+,[-.\\d]+/g).map(each => each.split(','));
            return points.find(([, y]) => y < 20)[0]
                / document.querySelector('.series').clientWidth;
        })()""")
        self.assertAlmostEqual(share * load["last_load_ms"] * 1.02, first + 100, delta=1)

    def test_what_a_page_chose_is_text(self):
        load = view_results.load_of(1, 4, random.Random(1), {"protocol": HOSTILE})
        for field in ("url", "method", "resource_type", "protocol", "mime_type", "failure",
                      "priority", "initiator", "remote_address"):
            load["requests"][1][field] = HOSTILE
        load.update(url=HOSTILE, final_url=HOSTILE, console_errors=[HOSTILE], remarks=[HOSTILE],
                    failure=HOSTILE, outcome=HOSTILE)
        other = view_results.load_of(2, 4, random.Random(1), {})
        self.look("hostile", self.result([load, other, dict(other, run=3)]))
        self.open(self.result([load, other]))
        self.page.evaluate("document.querySelector('.waterfall').focus()")
        for _ in range(4):
            self.page.press("ArrowDown")
            if SHOWN in self.texts(".details .url"):
                break
        self.assertIn(SHOWN, self.texts(".details .url"))
        self.assertIn(SHOWN, self.texts(".messages li"))
        everything = self.page.evaluate("document.body.innerText")
        self.assertNotIn("\u202e", everything + "".join(self.texts("option")))
        self.assertEqual(self.page.evaluate("document.querySelectorAll('script').length"), 2)
        self.assertEqual(self.page.evaluate("document.querySelectorAll('img').length"), 0)
        self.assertNotIn("ran", self.page.evaluate("document.title"))
        self.assert_whole()
        # No script but the page's own runs, whoever puts it there.
        self.page.evaluate("document.body.append(Object.assign(document.createElement('script'),"
                           " {textContent: 'window.intruder = true'}))")
        self.assertIsNone(self.page.evaluate("window.intruder"))
        self.page.settle()
        self.assertIn("Content Security Policy", " ".join(self.page.errors))

    def test_two_thousand_requests_stay_few_in_the_document(self):
        load = view_results.load_of(1, 2000, random.Random(5), view_results.configuration(),
                                    bits_a_ms=90_000)
        self.look("2000", self.result([load]))
        self.open(self.result([load]))
        took = self.page.evaluate("performance.getEntriesByName('reprise-draw')[0].duration")
        print(f"2,000 requests drawn in {took:.0f} ms,"
              f" {self.page.evaluate('document.querySelectorAll(`*`).length')} elements")
        self.assertEqual(self.row_count(), 2000)
        frames = self.page.evaluate("""(async () => {
            const scroller = document.querySelector('.waterfall .scroller');
            const frame = requestAnimationFrame.bind(window);
            const counts = [], took = [];
            window.requestAnimationFrame = call => frame(time => {
              const began = performance.now();
              call(time);
              took.push(performance.now() - began);
            });
            const median = () => took.sort((a, b) => a - b).splice(0)[15];
            const scroll = async to => {
              scroller.scrollTop = to;
              await new Promise(done => frame(() => frame(done)));
              counts.push(document.querySelectorAll('*').length);
            };
            for (let i = 0; i < 30; i += 1) await scroll(i * 100);
            const steps = median();
            for (let i = 1; i <= 30; i += 1) await scroll(scroller.scrollHeight * i / 30);
            return [Math.max(...counts), steps, median()];
        })()""")
        print(f"scrolling: at most {frames[0]} elements; a frame's script takes {frames[1]:.1f} ms"
              f" for 100 pixels, {frames[2]:.1f} ms where all rows are new")
        self.assertLess(frames[0], NODES_MAX)
        last = load["requests"][-1]["url"].rsplit("/", 1)[1]
        self.assertEqual(self.names()[-1], last)
        self.assertLess(len(self.names()), ROWS_DRAWN_MAX)
        self.page.evaluate("document.querySelector('.waterfall').focus()")
        self.page.press("Home")
        self.assertEqual(self.names()[0], "/")
        self.page.press("End")
        self.assertEqual(self.texts(".row[aria-selected=true] .path"), [last])
        self.assertIn(last, self.texts(".details .url")[0])
        fonts = [each for each in load["requests"] if each["resource_type"] == "Font"]
        self.choose(".controls select", "Font")
        self.assertEqual(self.row_count(), len(fonts))
        self.choose(".controls label:nth-of-type(3) select", "size")
        largest = max(fonts, key=lambda each: each["encoded_bytes"])
        self.assertEqual(self.names()[0], largest["url"].rsplit("/", 1)[1])
        self.choose(".controls input[type=search]", "cdn.test font", "input")
        self.assertEqual(self.row_count(), sum("cdn.test" in each["url"] for each in fonts))

    def test_loads_side_by_side(self):
        result = view_results.matrix(12, 30, 7)
        path = self.folder / "matrix.json"
        path.write_text(json.dumps(result))
        self.look("matrix", path)
        self.open(path)
        measured = [each for each in result["loads"] if not each["warm_up"]]
        panel = "#distributions .panel:first-of-type "
        self.assertEqual(self.texts(panel + "figcaption"), ["Load event"])
        self.assertEqual(len(self.texts(panel + "circle")), len(measured))
        median = sorted(each["load_event_ms"] for each in measured
                        if each["configuration"]["protocol"] == "h2")[5:7]
        figures = self.texts(panel + ".name")[1]
        self.assertTrue(figures.startswith(f"h2{round(sum(median) / 2):,} ms"), figures)
        self.assertIn("n 12", figures)
        self.assertEqual(self.page.evaluate(
            "Number(document.querySelector('.load-list').getAttribute('aria-rowcount'))"),
            len(result["loads"]))
        self.assertIn("Run 2", self.texts("#load h2"))  # the first that is not a warm-up
        self.page.evaluate("document.querySelector('.load-list').focus()")
        self.page.press("End")
        self.assertIn("Run 13", self.texts("#load h2"))
        self.assertIn("Run 13", self.page.evaluate(  # what screen readers say
            "document.getElementById(document.querySelector('.load-list')"
            ".getAttribute('aria-activedescendant')).textContent"))
        self.open(path, fragment="#load=8")
        self.assertIn(f"Run {result['loads'][7]['run']}", self.texts("#load h2"))
        second = self.result(view_results.matrix(6, 30, 9)["loads"], "other.json")
        self.look("two-results", path, second)
        self.open(path, width=360, height=740, phone=True)
        self.assertEqual(self.page.evaluate(
            "[...document.querySelectorAll('.load-list .head > *')]"
            ".filter(e => e.offsetHeight).map(e => e.textContent)"), ["Load", "Load event"])

    def test_a_recording_is_shown_by_its_recorded_times(self):
        names = ("one.test", "two.test")
        tls = Certificate(self.folder / "tls", names)
        origin = self.origin(lambda request: response(b"x" * 2000, headers=b"Content-Type: text/"
                                                      b"html\r\n"), names=names, tls=tls)
        archive = self.folder / "shop.reprise"
        recorder = self.record(archive, origins=[origin])
        for name in names:
            with recorder.connect("https", name) as client:
                for path in ("/", "/a.css?v=1", "/b.png"):
                    client.get(path, name)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.look("archive", archive)
        self.open(archive)
        self.assertEqual(self.texts("h1"), ["shop.reprise"])
        self.assertEqual(self.names(), ["/", "a.css?v=1", "b.png"] * 2)
        self.assertEqual(self.texts(".row .host"), ["two.test"] * 3)
        self.assertEqual(self.texts("#tables table:first-of-type caption")[0], "By host")
        self.assertIn("two.test", self.texts("#tables td"))
        self.page.evaluate("document.querySelector('.waterfall').focus()")
        self.page.press("ArrowDown")
        phases = self.texts(".details .phases th")
        for phase in ("Connecting", "TLS", "Waiting", "– think time"):
            self.assertIn(phase, phases)
        self.assertIn("1 of the archive", self.texts(".details dd"))


if __name__ == "__main__":
    harness.main()
