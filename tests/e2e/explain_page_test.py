#!/usr/bin/env python3
"""The page of `reprise explain`, looked at in a real browser with made-up explanations
(tests/view/explain/explanations.mjs). Prints how long drawing takes. $EXPLAIN_PAGE_OF is the
program that makes pages of them."""

import csv
import io
import json
import os
import subprocess

import harness
from page_case import HOSTILE, LOOKS, SHOWN, PageCase

PAGE_OF = os.environ.get("EXPLAIN_PAGE_OF",
                         str(harness.REPOSITORY / "build/release/explain_page_of"))
MAKER = harness.REPOSITORY / "tests/view/explain/explanation_json.mjs"
NODES_MAX = 8000


def explanation(**options):
    return json.loads(subprocess.run(["node", MAKER, json.dumps(options)], check=True,
                                     capture_output=True).stdout)


class ExplainPage(PageCase):
    def make_page(self, file, given):
        file.write_bytes(subprocess.run([PAGE_OF], input=json.dumps(given).encode(), check=True,
                                        capture_output=True).stdout)

    def plain_texts(self, selector):
        return [text.replace("\u00a0", " ") for text in self.texts(selector)]

    def text(self, selector):
        return self.plain_texts(selector)[0]

    def click(self, selector):
        self.page.evaluate(f"document.querySelector({json.dumps(selector)}).click()")
        self.page.settle()

    def focus(self, selector):
        self.page.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")

    def is_in_view(self, selector):
        return self.page.evaluate(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            const {{ top }} = element.getBoundingClientRect();
            return top >= 0 && top < innerHeight; }})()""")

    def value(self, selector, attribute):
        return self.page.evaluate(f"document.querySelector({json.dumps(selector)})"
                                  f".getAttribute({json.dumps(attribute)})")

    def test_one_view(self):
        given = explanation(views=1)
        self.look("one-view", given)
        self.open(given)
        self.assertIn(" go to ", self.text("h1"))
        shares = given["slices"][0]["shares"]
        self.assertEqual(self.texts(".bars tbody th"), [share["kind"] for share in shares])
        self.assertEqual(self.page.evaluate("document.querySelectorAll('.pie .part').length"),
                         sum(share["us"] > 0 for share in shares))
        hidden = self.page.evaluate("[...document.querySelectorAll('section')]"
                                    ".filter(e => e.hidden).map(e => e.id)")
        self.assertEqual(hidden, ["slices", "trend"])

    def test_no_views(self):
        empty = dict(explanation(views=1), views=0, slices=[], points=[], names=[], losses=[])
        self.look("no-views", empty)
        nothing = dict(tags={}, views=0, shares=[], calls=[],
                       costs=dict(host=[], entity=[], script=[], setting=[]),
                       window_us=dict(mean=0, median=0, p90=0, min=0, max=0))
        for slices in ([], [nothing]):
            self.open(dict(empty, slices=slices))
            self.assertEqual(self.text("h1"), "No views to explain")
            self.assert_whole()

    def test_the_chosen_slice_is_what_the_page_explains(self):
        given = explanation(views=300, by=["network", "country"], days=30)
        self.look("slices", given)
        self.open(given)
        slices = given["slices"]
        self.assertEqual(self.text(".which"), "All views")
        self.assertEqual(len(self.texts(".slice")), len(slices))
        for at, how in ((3, lambda: self.choose("nav select", "3")),
                        (1, lambda: self.click(".slice:nth-of-type(2) input"))):
            how()
            tags = slices[at]["tags"]
            self.assertEqual(self.text(".which"),
                             ", ".join(f"{name} {value}" for name, value in tags.items()))
            self.assertEqual(self.text(".tiles dd"), str(slices[at]["views"]))
            self.assertEqual(self.texts(".bars tbody th"),
                             [share["kind"] for share in slices[at]["shares"]])
            self.assertEqual(self.value("nav select option:checked", "value"), str(at))
            self.assertEqual(self.value(".slice input:checked", "value"), str(at))
            self.assertEqual(self.page.evaluate(
                "document.querySelectorAll('.scatter circle:not(.ring)').length"),
                sum(tags.items() <= point["tags"].items() for point in given["points"]))
        self.assertEqual(self.page.evaluate("document.querySelectorAll('.trend .day').length"), 30)

    def test_calls_are_searched_sorted_filtered_and_written_as_csv(self):
        given = explanation(views=40)
        self.open(given)
        calls = given["slices"][0]["calls"]
        self.click("#calls .more")
        self.assertEqual(self.texts(".called .name"), [call["name"] for call in calls])
        self.click("[data-key=longest_us]")
        self.assertEqual(self.value("th:nth-child(6)", "aria-sort"), "descending")
        longest = sorted(calls, key=lambda call: -call["longest_us"])
        self.assertEqual(self.texts(".called .name"), [call["name"] for call in longest])
        self.click("[data-key=longest_us]")
        self.assertEqual(self.value("th:nth-child(6)", "aria-sort"), "ascending")
        self.choose("#calls input[type=search]", "PHOTO fastly", "input")
        photos = [call["name"] for call in reversed(longest) if "photo" in call["name"]]
        self.assertGreater(len(photos), 5)
        self.assertEqual(self.texts(".called .name"), photos)
        self.choose("#calls label:nth-of-type(2) select", "ads")
        self.assertEqual(self.texts("#calls td"), ["No call fits."])
        self.choose("#calls input[type=search]", "", "input")
        self.assertEqual(set(self.texts(".of-kind")), {"ads"})
        file = self.page.download(self.folder, lambda: self.click("a[download]"))
        self.assertEqual(file.name, "explain-calls.csv")
        rows = list(csv.DictReader(io.StringIO(file.read_text())))
        self.assertEqual([row["kind"] for row in rows], ["ads"])
        ads = next(call for call in calls if call["kind"] == "ads")
        self.assertEqual(rows[0]["us"], str(ads["us"]))

    def test_costs_are_ranked_by_cause_and_measure(self):
        given = explanation(views=40)
        self.open(given)
        costs = given["slices"][0]["costs"]["host"]
        self.assertEqual(self.texts("#costs td:first-child"), [cost["name"] for cost in costs])
        self.click("#costs input[value=processor_us]")
        busy = sorted((cost for cost in costs if cost["processor_us"] > 0),
                      key=lambda cost: -cost["processor_us"])
        self.assertEqual(self.texts("#costs td:first-child"), [cost["name"] for cost in busy])
        self.click("#costs input[value=entity]")
        self.assertEqual(len(self.texts("#costs tbody tr")),
                         sum(cost["processor_us"] > 0 for cost in costs[:2]))
        self.click("#costs input[value=setting]")
        self.assertEqual(self.texts("#costs .hint"), ["The inputs do not tell."])

    def test_links_open_their_place(self):
        given = explanation(views=60)
        kinds = [share["kind"] for share in given["slices"][0]["shares"]]
        self.open(given, fragment=f"#kind={kinds[-1].replace(' ', '%20')}")
        place = "details:last-child"
        self.assertEqual(self.text(f"{place} .kind"), kinds[-1])
        self.assertIsNotNone(self.value(place, "open"))
        self.assertTrue(self.is_in_view(place))
        self.click(".bars tbody tr:nth-child(5) a")
        self.assertIsNotNone(self.value("details:nth-child(5)", "open"))
        self.assertTrue(self.is_in_view("details:nth-child(5)"))
        self.open(given, fragment="#point=17")
        self.assertIn("View 17:", self.text(".point h3"))
        self.assertTrue(self.is_in_view(".point"))
        self.click(".heaviest ~ button")
        filtered = self.page.evaluate("document.querySelector('#calls label:nth-of-type(2) select')"
                                      ".value")
        self.assertEqual(set(self.texts(".of-kind")), {filtered})

    def test_a_view_opens_with_its_calls_inside_each_other(self):
        given = explanation(views=220)
        self.look("view", given)
        self.open(given)
        self.focus(".scatter")
        slowest = max(given["points"][:200], key=lambda point: point["window_us"])
        number = given["points"].index(slowest) + 1
        self.click("#views input[value=rank]")
        self.page.press("End")
        while f"View {number}:" not in self.value(".scatter", "aria-valuetext"):
            self.focus(".scatter")
            self.page.press("ArrowLeft")
        self.page.press("Enter")
        self.assertIn(f"View {number}:", self.text(".point h3"))
        self.assertEqual(self.page.evaluate("location.hash"), f"#point={number}")
        self.assertEqual(self.value(".point .waterfall", "aria-rowcount"),
                         str(len(slowest["calls"])))
        self.focus(".point .waterfall")
        self.page.press("Home")
        self.assertEqual(self.value(".point .row[aria-selected=true]", "aria-level"), "1")
        self.page.press("ArrowDown")
        self.assertEqual(self.value(".point .row[aria-selected=true]", "aria-level"), "2")
        self.assertIn("Even share", self.texts(".point .details dt"))
        self.click(".point .check input")
        self.assertEqual(self.value(".point .waterfall", "aria-rowcount"),
                         str(sum(call[4] < 0 for call in slowest["calls"])))
        # Beyond the first 200 there are no calls.
        self.open(given, fragment="#point=210")
        self.assertIn("holds no calls", self.text(".point .hint"))
        self.assert_whole()

    def test_what_a_page_chose_is_text(self):
        given = explanation(views=30, by=["network"], days=3, text=HOSTILE)
        self.look("hostile", given)
        self.open(given, fragment="#point=1")
        self.click(".point .row")
        for place in ("h1", "#top .said", ".bars th", ".fix", ".heaviest .name",
                      ".slice .name", ".called .name", ".point .address", ".point .said",
                      ".point .details .url", "#losses td", "nav option:last-child",
                      "#trend thead th:last-child"):
            self.assertIn(SHOWN, "\n".join(self.texts(place)), place)
        everything = self.page.evaluate("document.body.innerText") + "".join(self.page.evaluate(
            "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes])"
            ".filter(a => a.name !== 'href' && a.name !== 'value').map(a => a.value)"))
        self.assertNotIn("\u202e", everything)
        self.assertEqual(self.page.evaluate("document.querySelectorAll('script').length"), 2)
        self.assertEqual(self.page.evaluate("document.querySelectorAll('img').length"), 0)
        self.assertFalse(self.page.evaluate("document.title").startswith("ran"))
        self.assert_whole()

    def test_everything_is_named_and_reached_by_the_keyboard(self):
        self.open(explanation(views=60, by=["network"], days=5), fragment="#point=1")
        self.assert_whole()
        self.page.evaluate("""(() => {
            window.reached = new Set();
            document.addEventListener('focusin', ({ target: e }) => {
                const outline = getComputedStyle(e).outlineStyle;
                const beside = e.nextElementSibling
                    ? getComputedStyle(e.nextElementSibling).outlineStyle : 'none';
                const label = e.closest('label') ? getComputedStyle(e.closest('label')).outlineStyle
                    : 'none';
                const isSeen = [outline, beside, label].some(each => each !== 'none');
                window.reached.add(`${e.closest('section, nav')?.id || e.tagName} ${
                    e.getAttribute('role') || e.tagName.toLowerCase()} ${isSeen}`);
            }); })()""")
        for _ in range(150):
            self.page.press("Tab", settles=False)
        self.page.settle()
        seen = self.page.evaluate("[...window.reached]")
        for wanted in ("bottlenecks a true", "fixes summary true", "fixes button true",
                       "slices input true", "trend slider true", "trend summary true",
                       "calls input true", "calls select true", "calls a true",
                       "calls button true", "views slider true", "views input true",
                       "views grid true"):
            self.assertIn(wanted, seen)
        self.focus(".trend")
        self.page.press("End")
        self.assertIn("2026-10-28", self.value(".trend", "aria-valuetext"))
        self.assertIn("2026-10-28", self.text("#trend .readout"))

    def test_two_thousand_views_stay_few_in_the_document(self):
        given = explanation(views=2000, by=["network"], days=90)
        self.look("2000", given, looks=reversed(LOOKS))  # then it is a wide page
        took = self.page.evaluate("performance.getEntriesByName('reprise-draw')[0].duration")
        nodes = self.page.evaluate("document.querySelectorAll('*').length")
        print(f"2,000 views drawn in {took:.0f} ms, {nodes} elements")
        self.assertLess(nodes, NODES_MAX)
        self.assertEqual(self.page.evaluate(
            "document.querySelectorAll('.scatter circle:not(.ring)').length"), 2000)


if __name__ == "__main__":
    harness.main()
