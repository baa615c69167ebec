#!/usr/bin/env python3
"""The page's clock: what must not move it, and that code waiting for it gets on."""

import harness
from inject_pages import BROWSERS, Pages, write_har

STEP_MS = 50
START = "2026-03-01T12:00:00.000Z"
MINUTE_MS = 60_000
PAGE = """<!doctype html><title>clock</title><body><script>
const told = { first: new Date().toISOString() };
const start = Date.now();
const work = (ms) => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};
told.sameTask = Date.now() - start;
work(1500);
told.afterWork = Date.now() - start;
</script><script>
told.nextTask = Date.now() - start;
const before = Date.now();
let readings = 0;
while (Date.now() < before + 100) readings += 1;
told.readings = readings;
addEventListener('load', () => {
  const loaded = performance.now(), loadedAt = Date.now();
  told.loaded = loadedAt - start;
  let polls = 0;
  told.behind = 0;
  const poll = () => {
    polls += 1;
    // Read in this order, the one is no younger than the other.
    const passed = performance.now() - loaded;
    const shown = Date.now() - loadedAt;
    told.behind = Math.max(told.behind, passed - shown);
    told.ahead = Math.max(told.ahead ?? 0, shown - (performance.now() - loaded) - polls);
    if (shown < 3000) {
      setTimeout(poll, 50);
      return;
    }
    told.polls = polls;
    const shownIn = document.body.appendChild(document.createElement('pre'));
    shownIn.id = 'told';
    shownIn.textContent = JSON.stringify(told);
  };
  poll();
});
</script>"""

LATER = """<!doctype html><title>later</title><body><script>
var length = 100000;
const told = {}, start = Date.now();
document.cookie = 'a=1';
document.body.append(document.createElement('iframe'));
told.inFrame = window[0].Date.now() - start;
addEventListener('load', () => setTimeout(() => {
  document.cookie = 'a=;expires=' + new Date(Date.now() - 1000).toUTCString();
  told.cookies = document.cookie;
  const shown = document.body.appendChild(document.createElement('pre'));
  shown.id = 'told';
  shown.textContent = JSON.stringify(told);
}, 3000));
</script>"""

PERFORMANCE = """<!doctype html><title>performance</title><body><script>
addEventListener('load', ({ timeStamp }) => requestAnimationFrame((frame) => {
  const now = performance.now();
  const before = Date.now(), shown = performance.timeOrigin + performance.now(), after = Date.now();
  const told = { frame, event: timeStamp, now, before, shown, after };
  const text = document.body.appendChild(document.createElement('pre'));
  text.id = 'told';
  text.textContent = JSON.stringify(told);
}));
</script>"""


class Clock(Pages):
    def told_in(self, browser, *arguments):
        """What the page has written, once it has. Looking for that reads no clock of the page."""
        steps = self.folder / "steps.json"
        steps.write_text('[{"wait": "#told"}]')
        (load,) = self.load("https://one.test/", browser, "--quiet", "100", "--steps", str(steps),
                            *arguments)
        return self.told(load)

    def test_with_any_clock_a_cookie_ends_when_the_page_says_and_frames_have_it(self):
        write_har(self.folder / "page.har", {"": ("text/html", LATER)}, START)
        done = harness.run("archive", "import", str(self.folder / "page.har"), "-o",
                           str(self.archive))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        for clock in ("step", "steady"):
            with self.subTest(clock=clock):
                told = self.told_in(BROWSERS[0], f"--replay-flag=--clock={clock}")
                self.assertEqual(told["cookies"], "")
                # The browser's clock is another day.
                self.assertLess(abs(told["inFrame"]), MINUTE_MS)

    def import_page(self, page):
        write_har(self.folder / "page.har", {"": ("text/html", page)}, START)
        done = harness.run("archive", "import", str(self.folder / "page.har"), "-o",
                           str(self.archive))
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_loading_does_not_move_it_and_waiting_does(self):
        self.import_page(PAGE)
        for browser in BROWSERS:
            with self.subTest(browser=browser):
                told = self.told_in(browser)
                self.assertEqual(told["first"], START)
                self.assertEqual([told["sameTask"], told["afterWork"], told["nextTask"]], [0, 0, 0])
                self.assertEqual(told["loaded"] % STEP_MS, 0)
                self.assertLessEqual(told["readings"], 100 + STEP_MS + 25)
                self.assertLess(told["loaded"], 200)  # though more than 1,500 ms had passed
                self.assertLessEqual(told["behind"], 1001)
                self.assertLessEqual(told["ahead"], STEP_MS)
                self.assertGreater(told["polls"], 2)

    def test_with_all_performance_agrees_with_frames_events_and_the_pages_time(self):
        self.import_page(PERFORMANCE)
        for browser in BROWSERS:
            with self.subTest(browser=browser):
                # The script starts half a second after the navigation.
                told = self.told_in(browser, "--replay-flag=--clock=all",
                                    "--replay-flag=--think-time=500")
                self.assertGreaterEqual(told["now"], 500)
                for name in ("frame", "event"):
                    self.assertLess(told[name] - told["now"], 100, name)
                    self.assertLess(told["now"] - told[name], MINUTE_MS, name)
                self.assertGreater(told["shown"], told["before"] - 1)
                self.assertLess(told["shown"], told["after"] + 2)


if __name__ == "__main__":
    harness.main()
