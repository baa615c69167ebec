#!/usr/bin/env python3
"""`predict --perturb`: what the loads cannot show, holding responses back does. The graph is kept,
used again, and shown by `view`."""

import json

import gate_sites
import harness

PAGE = (b"<!doctype html><title>t</title><link rel=icon href=data:,><script src=/app.js></script>"
        b"<p>words")
# Both answers come at the same time; the picture needs one of them.
APP = b"""fetch('/other.json');
fetch('/data.json').then((answer) => answer.text()).then(() => {
  document.body.append(Object.assign(new Image(), { src: '/late.svg' }));
});"""
FILES = {"/": (b"text/html", PAGE), "/app.js": (b"text/javascript", APP),
         "/other.json": (b"application/json", b"[1]"), "/data.json": (b"application/json", b"[2]"),
         "/late.svg": gate_sites.picture(1, 2000)}
QUICK = ("--quiet", "500", "--settle", "0", "--inject", "none", "--protocol", "h2")


class Perturb(harness.TestCase):
    def predict(self, archive, *arguments):
        done = harness.run("predict", str(archive), gate_sites.URL, "--link", "20mbit/20mbit/60",
                           *QUICK, "--browser", harness.BROWSER, "--seed", "1",
                           *arguments, folder=self.folder, timeout=1500)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stderr.decode()

    def edges(self, folder):
        """{from, to: evidence}, by paths."""
        graph = json.loads((folder / "dependency.json").read_text())
        names = [node["name"].removeprefix(gate_sites.URL) or "/" for node in graph["nodes"]]
        return {(names[edge["from"]], names[edge["to"]]): edge["evidence"]
                for edge in graph["edges"]}

    def test_what_a_picture_waits_for_is_found(self):
        archive = gate_sites.record(self.folder, "page", gate_sites.Site(FILES))
        out, again = self.folder / "out", self.folder / "again"
        change = ("--what-if", "path=/other.json: think=+400ms")
        said = self.predict(archive, *change, "--runs", "4", "--perturb", "20m", "-o", str(out))
        self.assertIn(f"held back {gate_sites.URL}data.json", said)
        self.assertNotIn("the time for --perturb is over", said)
        edges = self.edges(out)
        for edge in (("app.js", "script"), ("script", "data.json"), ("data.json", "late.svg")):
            self.assertIn("held back", edges[edge], edge)
        self.assertNotIn(("other.json", "late.svg"), edges)
        said = self.predict(archive, *change, "--loads", str(out), "-o", str(again))
        self.assertNotIn("held back", said)
        self.assertEqual(self.edges(again), edges)
        page = self.folder / "view.html"
        harness.run("view", str(again / "a.json"), "-o", str(page))
        self.assertIn('"dependencies":[[', page.read_text())


if __name__ == "__main__":
    harness.main()
