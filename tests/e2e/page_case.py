"""What the end-to-end tests of pages share: a page, looked at in a real browser, light and dark,
wide and narrow. Screenshots, also of a light phone and a dark desk, go to $PAGE_SCREENSHOTS,
where that is set."""

import json
import os
import pathlib
import unittest

import devtools
import harness

# What a page may choose as a name, and how it is shown.
HOSTILE = ("https://evil.test/</script><script>document.title='ran'</script><!--<img src=x "
           "onerror=alert(1)>\u2028\u202egpj.\u0000{{&lt;")
SHOWN = HOSTILE.replace("\u2028", "\\u2028").replace("\u202e", "\\u202e").replace("\0", "\\u0000")
# What a screen reader names when it gets there, so that each must have a name.
NAMED = {"button", "checkbox", "combobox", "figure", "form", "grid", "heading", "image",
         "link", "listbox", "meter", "navigation", "option", "radio", "radiogroup", "region",
         "search", "searchbox", "slider", "table", "textbox", "tree", "treegrid", "treeitem"}
LOOKS = [(1280, 900, False), (360, 740, True)]
if "PAGE_SCREENSHOTS" in os.environ:
    LOOKS += [(1280, 900, True), (360, 740, False)]


@unittest.skipUnless(devtools.PROGRAM, "no chromium-headless-shell")
class PageCase(harness.TestCase):
    """A subclass has make_page(file, *inputs). Its tests look into one browser."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.page = devtools.Page()
        cls.addClassCleanup(cls.page.close)

    def setUp(self):
        super().setUp()
        self.file = self.folder / "page.html"
        self.page.show("about:blank", 1280, 900)  # nothing of the test before is left
        self.page.errors.clear()
        self.screenshots = os.environ.get("PAGE_SCREENSHOTS")

    def open(self, *inputs, **how):
        self.make_page(self.file, *inputs)
        self.show(**how)

    def show(self, width=1280, height=900, dark=False, phone=False, fragment=""):
        """The page that was made last."""
        self.width = width
        self.page.requests.clear()
        self.page.show("about:blank", width, height)
        self.page.show(f"file://{self.file}{fragment}", width, height, dark, phone)
        self.page.settle()

    def look(self, name, *inputs, fragment="", looks=LOOKS):
        """Opens the page in every way that it is looked at, at last in the last of `looks`: it
        fetches nothing, nothing is wrong, nothing sticks out."""
        self.make_page(self.file, *inputs)
        for width, height, dark in looks:
            self.show(width=width, height=height, dark=dark, phone=width < 500, fragment=fragment)
            with self.subTest(width=width, dark=dark):
                self.assert_whole()
            if self.screenshots:
                folder = pathlib.Path(self.screenshots)
                folder.mkdir(parents=True, exist_ok=True)
                shot = folder / f"{name}-{width}-{'dark' if dark else 'light'}.png"
                self.page.screenshot(shot, whole=True)
                shot.with_suffix(".txt").write_text("".join(
                    f"{'  ' * depth}{role} {text}\n"
                    for depth, role, text, _ in self.page.accessibility()))

    def assert_whole(self):
        self.assertEqual(self.page.errors, [])
        # What is in the page itself is not fetched.
        asked = {url.split("#")[0] for url in self.page.requests if not url.startswith("data:")}
        self.assertLessEqual(asked, {f"file://{self.file}", "about:blank"})
        # A phone widens its view for what sticks out, so this is no matter of innerWidth.
        width = self.page.evaluate("document.documentElement.scrollWidth")
        self.assertLessEqual(width, self.width)
        self.assert_named()

    def assert_named(self):
        told = self.page.accessibility()
        self.assertGreater(len(told), 5)
        nameless = [(role, self.page.element(element)[:300]) for _, role, name, element in told
                    if role in NAMED and not name.strip()]
        self.assertEqual(nameless, [])

    def texts(self, selector):
        return self.page.evaluate(
            f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")

    def choose(self, selector, value, event="change"):
        self.page.evaluate(f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.value = {json.dumps(value)}; e.dispatchEvent(new Event('{event}')); }})()""")
        self.page.settle()
