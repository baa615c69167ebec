#!/usr/bin/env python3
"""Dates in the responses of an old recording: a replay moves them to the present, for the browser's
cache, and the page's scripts read them as they were recorded, by every way there is."""

import email.utils
import json

import harness
from inject_pages import BROWSERS, Pages, write_har

RECORDED = "2019-03-05T06:07:08.900Z"
FIELDS = {"Date": "Tue, 05 Mar 2019 06:07:09 GMT", "Expires": "Tue, 05-Mar-2019 07:07:09 GMT",
          "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
          "X-Date": "Tue, 05 Mar 2019 06:07:09 GMT"}
ASK = """
const fields = %s;
async function ask() {
  const told = {};
  const { headers } = await fetch('data');
  told.get = fields.map((name) => headers.get(name));
  const list = (pairs) => fields.map((name) => new Map(pairs).get(name.toLowerCase()));
  told.entries = list([...headers.entries()]);
  told.iterator = list([...headers]);
  const values = [...headers.values()];
  told.values = list([...headers.keys()].map((name, i) => [name, values[i]]));
  const pairs = [];
  headers.forEach((value, name) => pairs.push([name, value]));
  told.forEach = list(pairs);
  told.clone = fields.map((name) => (new Response('', { headers })).headers.get(name));
  const request = new XMLHttpRequest();
  request.open('GET', 'data', false);
  request.send();
  told.getResponseHeader = fields.map((name) => request.getResponseHeader(name));
  told.getAllResponseHeaders = list(request.getAllResponseHeaders().trim().split('\\r\\n')
    .map((line) => line.split(': ')));
  told.made = [new Response('', { headers: { date: fields[0] } }).headers.get('date')];
  return told;
}
""" % json.dumps(list(FIELDS))
PAGE = """<!doctype html><title>dates</title><script src="ask.js"></script><body><script>
const worker = new Worker('worker.js');
worker.onmessage = async ({ data }) => {
  const all = { page: await ask(), worker: data, lastModified: document.lastModified };
  const shown = document.body.appendChild(document.createElement('pre'));
  shown.id = 'told';
  shown.textContent = JSON.stringify(all);
};
</script>"""
WORKER = "importScripts('ask.js'); ask().then(postMessage);"
FILES = {"index.html": ("text/html", PAGE), "ask.js": ("text/javascript", ASK),
         "worker.js": ("text/javascript", WORKER), "data": ("text/plain", "data")}


class Dates(Pages):
    def setUp(self):
        super().setUp()
        har = self.folder / "old.har"
        write_har(har, FILES, RECORDED, FIELDS)
        done = harness.run("archive", "import", str(har), "-o", str(self.archive))
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_scripts_read_them_as_they_were_recorded(self):
        for browser in BROWSERS:
            with self.subTest(browser=browser):
                (load,) = self.load("https://one.test/index.html", browser, "--timezone", "UTC")
                told = self.told(load)
                self.assertEqual(told.pop("lastModified"), "11/06/1994 08:49:37")
                for realm, ways in told.items():
                    self.assertEqual(ways.pop("made"), ["Date"], realm)
                    for way, values in ways.items():
                        self.assertEqual(values, list(FIELDS.values()), (realm, way))

    def test_without_the_script_they_are_of_today(self):
        (load,) = self.load("https://one.test/index.html", BROWSERS[0], "--inject", "none")
        told = self.told(load)["page"]
        moved = [email.utils.parsedate_to_datetime(value.replace("-", " "))
                 for value in told["get"]]
        self.assertGreater((moved[0] - moved[3]).days, 365)
        recorded = [email.utils.parsedate_to_datetime(FIELDS[name])
                    for name in ("Date", "Last-Modified")]
        self.assertEqual(moved[0] - moved[2], recorded[0] - recorded[1])
        self.assertEqual(told["get"], told["getResponseHeader"])


if __name__ == "__main__":
    harness.main()
