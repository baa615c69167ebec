#!/usr/bin/env python3
"""A slow method of a server in C++, Java or Node is found: the server's page is recorded in a real
browser and replayed; in `reprise view` that method is the widest bar, and `reprise explain` names
it as what the page waited for. Screenshots go to $PAGE_SCREENSHOTS, where that is set."""

import json

import harness
import trench_shops
from trench_case import TrenchCase
from trench_shops import HOST, SLOW, SLOW_MS


class TrenchLayers(TrenchCase):
    def record_in_a_browser(self, emitter, port, path):
        archive = self.folder / f"{emitter}.reprise"
        done = harness.run("record", "-o", str(archive), "--browser", harness.BROWSER,
                           "--connect-to", f"{HOST}:80:127.0.0.1:{port}", "--timeout", "90",
                           f"http://{HOST}{path}", folder=self.folder, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assert_sound(archive)
        return archive

    def trace_fields(self, archive, path):
        """The values that a client of the replay gets."""
        replay = self.replay(archive)
        with replay.connect("http", HOST) as client:
            answer = client.get(path, HOST)
        self.assertEqual(replay.stop(), 0, replay.log())
        self.assertEqual(answer.status, 200)
        return [value for name, value in answer.headers if name.lower() == b"banky-trace"]

    def bottleneck(self, *inputs):
        """The method that takes most of the page's time, as `explain` says. On a busy machine,
        what the browser waits for beside it may take more."""
        done = harness.run("explain", *map(str, inputs), "--json")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        (slice_of_all,) = json.loads(done.stdout)["slices"]
        methods = [each for each in slice_of_all["calls"] if each["name"].startswith("shop.")]
        return max(methods, key=lambda each: each["us"])["name"]

    def find(self, emitter):
        if why := trench_shops.missing(emitter):
            self.skipTest(why)
        path, slow = SLOW[emitter]
        archive = self.record_in_a_browser(emitter, trench_shops.start(self, emitter), path)
        self.assertGreater(len(self.trace_fields(archive, path)), 5)
        self.assertEqual(self.bottleneck(archive), slow)

        loads = self.folder / f"{emitter}.json"
        done = harness.run("load", str(archive), "--browser", harness.BROWSER, "--quiet", "0",
                           "--timeout", "90", "--think-time", "recorded", "-o", str(loads),
                           folder=self.folder, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        loaded = json.loads(loads.read_text())
        self.assertEqual(loaded["replays"][0]["report"]["misses"], 0)
        self.assertGreater(loaded["loads"][0]["load_event_ms"], SLOW_MS)

        number = self.urls(archive).index(path) + 1
        self.look(f"layers-{emitter}", archive, fragment=f"#load=1&request={number}")
        self.open(archive)
        self.assertEqual(self.widest_leaf(self.bars("#servers")), slow)
        self.choose_row(path)
        self.assertEqual(self.widest_leaf(self.bars()), slow)
        marks = self.texts(".details .trench-marks li")
        self.assertTrue(any(mark.startswith(f"Wide {slow}") for mark in marks), marks)

    def test_in_cpp(self):
        self.find("cpp")

    def test_in_java(self):
        self.find("java")

    def test_in_node(self):
        self.find("node")


if __name__ == "__main__":
    harness.main()
