#!/usr/bin/env python3
"""The extension in the developer tools of a real Chromium without a window: loaded unpacked, its
panel opened, and a page loaded whose server sends traces. The panel is opened through the inside of
the developer tools, which can change with any version; extension_test.py needs nothing of that."""

import os
import pathlib
import shutil
import sys

import devtools
import harness
import trench_shops
from extension_test import BUILD, TRACE, fields_of
from trench_shops import SLOW
from wire import response

CHROMIUM = shutil.which("chromium")
SHOW_PANEL = """(async () => {
    const UI = await import('devtools://devtools/bundled/ui/legacy/legacy.js');
    try {
      const view = UI.InspectorView.InspectorView.instance();
      const panel = [...view.tabbedPane.tabs].find(tab => tab.title === 'Trench');
      if (!panel) return false;
      await view.showPanel(panel.id);
      return true;
    } catch (error) {
      return false; // not begun yet
    }
})()"""

class DevTools(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.page = devtools.Page(CHROMIUM, "--headless=new", "--auto-open-devtools-for-tabs",
                                  "--enable-unsafe-extension-debugging")
        self.addCleanup(self.page.close)

    def target(self, part, title=""):
        """Attaches to the target with that in its URL and title, as soon as there is one."""
        def attached():
            targets = self.page.browser("Target.getTargets")["targetInfos"]
            known = [each for each in targets if part in each["url"] and title in each["title"]]
            return known and self.page.attach(known[0]["targetId"])
        return self.until(attached)

    def open_panel(self, url, name):
        """Of this page; leaves `self.page` in the panel once it shows a graph."""
        self.page.browser("Extensions.loadUnpacked", path=str(BUILD / "extension"))
        opened = self.page.browser("Target.createTarget", url=url)["targetId"]
        # The other tabs have developer tools, too.
        self.target("devtools://", url.removeprefix("http://"))
        self.until(lambda: self.page.evaluate(SHOW_PANEL))
        tools = self.page.session
        self.target("/panel.html")
        panel = self.page.session
        self.until(lambda: self.page.evaluate("document.querySelector('#page > *') !== null"))
        self.page.attach(opened)
        self.page.call("Page.reload")
        self.page.session = panel
        self.until(lambda: self.shows_bars(opened))
        self.assertIn(url, self.page.evaluate("document.querySelector('h1').textContent"))
        if screenshots := os.environ.get("PAGE_SCREENSHOTS"):
            folder = pathlib.Path(screenshots)
            folder.mkdir(parents=True, exist_ok=True)
            self.page.session = tools
            self.page.screenshot(folder / f"panel-in-chromium-{name}.png")
            self.page.session = panel

    def shows_bars(self, opened):
        """The other tabs' developer tools can open in front: what is hidden is not laid out."""
        self.page.browser("Target.activateTarget", targetId=opened)
        return self.page.evaluate("document.querySelectorAll('.trench-bar').length")

    def test_the_panel_shows_the_trace_of_the_page(self):
        fields = "".join(f"Banky-Trace: {each['value']}\r\n" for each in fields_of(TRACE)).encode()
        site = self.origin(lambda request: response(
            b"<!doctype html><title>shop</title><link rel=icon href=data:,>",
            headers=b"Content-Type: text/html\r\n" + fields))
        self.open_panel(f"http://127.0.0.1:{site.port}/cart", "page")
        self.assertEqual(self.page.evaluate(
            "[...document.querySelectorAll('.trench-points .link')].map(e => e.textContent)"),
            ["tax", "show", "query"])

    def show_slow_method(self, emitter):
        if why := trench_shops.missing(emitter):
            self.skipTest(why)
        path, slow = SLOW[emitter]
        port = trench_shops.start(self, emitter)
        self.open_panel(f"http://127.0.0.1:{port}{path}", emitter)
        leaves = self.page.evaluate(
            "[...document.querySelectorAll('.trench-bar')].filter(e => e.title.includes("
            "'calls nothing')).map(e => [e.getBoundingClientRect().width, e.title])")
        self.assertTrue(max(leaves)[1].startswith(slow), leaves)

    def test_the_slow_method_of_a_shop_in_cpp(self):
        self.show_slow_method("cpp")

    def test_the_slow_method_of_a_shop_in_java(self):
        self.show_slow_method("java")

    def test_the_slow_method_of_a_shop_in_node(self):
        self.show_slow_method("node")


if __name__ == "__main__":
    if not CHROMIUM:
        print("skipped: needs chromium")
        sys.exit(77)
    harness.main()
