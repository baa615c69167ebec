#!/usr/bin/env python3
"""The extension in the developer tools of a Firefox without a window: loaded unpacked, its panel
opened, and a page loaded whose server sends traces. The panel is opened through the inside of the
developer tools, which can change with any version; extension_test.py needs nothing of that."""

import os
import pathlib
import sys

import harness
import marionette
import trench_shops
from extension_test import BUILD
from trench_shops import SLOW

OPEN_PANEL = """
const { require } = ChromeUtils.importESModule("resource://devtools/shared/loader/Loader.sys.mjs");
const { gDevTools } = require("devtools/client/framework/devtools");
const toolbox = await gDevTools.showToolboxForTab(gBrowser.selectedTab, { toolId: "options" });
const panel = toolbox.getAdditionalTools().find(each => each.label === "Trench");
if (!panel) return false;
await toolbox.selectTool(panel.id);
return true;
"""
# Evaluates in the panel, which is another process.
LOOK = """
const { require } = ChromeUtils.importESModule("resource://devtools/shared/loader/Loader.sys.mjs");
const { gDevTools } = require("devtools/client/framework/devtools");
const toolbox = gDevTools.getToolboxForTab(gBrowser.selectedTab);
const find = (place) => {
  for (const each of place.querySelectorAll("browser, iframe")) {
    if (each.currentURI?.spec.endsWith("/panel.html")) return each;
    const inside = each.contentDocument && find(each.contentDocument);
    if (inside) return inside;
  }
  return null;
};
const browser = find(toolbox.doc);
if (!browser) return null;
return await new Promise(done => {
  const manager = browser.messageManager;
  manager.addMessageListener("reprise:seen", function seen({ data }) {
    manager.removeMessageListener("reprise:seen", seen);
    done(data);
  });
  manager.loadFrameScript("data:,sendAsyncMessage('reprise:seen', "
      + encodeURIComponent(`((document) => ${given[0]})(content.document)`) + ")", false);
});
"""
LEAVES = ("[...document.querySelectorAll('.trench-bar')].filter(e => e.title.includes("
          "'calls nothing')).map(e => [e.getBoundingClientRect().width, e.title])")


class Firefox(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.firefox = marionette.Firefox()
        self.addCleanup(self.firefox.close)

    def test_the_panel_shows_the_slow_method_of_a_shop(self):
        path, slow = SLOW["cpp"]
        url = f"http://127.0.0.1:{trench_shops.start(self, 'cpp')}{path}"
        self.firefox.install(BUILD / "extension")
        self.firefox.open(url)
        self.until(lambda: self.firefox.inside(OPEN_PANEL))
        self.until(lambda: self.firefox.inside(
            LOOK, "document.querySelector('#page > *') !== null"))
        self.firefox.open(url)
        leaves = self.until(lambda: self.firefox.inside(LOOK, LEAVES))
        self.assertTrue(max(leaves)[1].startswith(slow), leaves)
        heading = self.firefox.inside(LOOK, "document.querySelector('h1').textContent")
        self.assertIn(url, heading)
        if screenshots := os.environ.get("PAGE_SCREENSHOTS"):
            folder = pathlib.Path(screenshots)
            folder.mkdir(parents=True, exist_ok=True)
            self.firefox.screenshot(folder / "panel-in-firefox.png")


if __name__ == "__main__":
    if not marionette.PROGRAM:
        print("skipped: needs firefox-esr")
        sys.exit(harness.SKIPPED)
    harness.main()
