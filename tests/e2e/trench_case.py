"""What the tests of servers' traces share: `reprise view` of an archive, and its graphs."""

import re

import harness
from page_case import PageCase
from trench_shops import HOST


class TrenchCase(PageCase):
    def make_page(self, file, *inputs):
        done = harness.run("view", *map(str, inputs), "-o", str(file), folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def urls(self, archive):
        return [each["url"].removeprefix(f"http://{HOST}")
                for each in self.archive_json("ls", str(archive))]

    def choose_row(self, name):
        """By the keyboard."""
        self.page.evaluate("document.querySelector('.waterfall').focus()")
        self.page.press("Home")
        for _ in range(8):
            if self.texts(".row[aria-selected=true] .path") == [name.removeprefix("/") or "/"]:
                return
            self.page.press("ArrowDown")
        self.fail(f"no row {name}")

    def bars(self, place=".details"):
        """Width and description of each bar, by the name of its point."""
        bars = self.page.evaluate(
            f"[...document.querySelectorAll('{place} .trench-bar')].map(e => [e.title,"
            " e.getBoundingClientRect().width])")
        return {re.split("[,:]", says)[0]: {"says": says, "width": width} for says, width in bars}

    def widest_leaf(self, bars):
        leaves = {name: bar["width"] for name, bar in bars.items()
                  if "calls nothing" in bar["says"]}
        return max(leaves, key=leaves.get)
