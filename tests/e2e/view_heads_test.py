#!/usr/bin/env python3
"""Heads and secrets on the page of `reprise view`: what is redacted, the command line of curl, the
files that the page saves, and links to a request."""

import csv
import io
import json
import shlex

import harness
import view_results
from page_case import PageCase
from wire import Certificate, response

NAME = "shop.test"
# Each at a place of its own, and the session's cookie and the token in a path, too.
SECRETS = {
    "cookie": "cookie-9f3a7c51", "set-cookie": "fresh-27bd90e4", "bearer": "bearer-55aa01fe",
    "token": "token-c0ffee42", "api key": "apikey-1234abcd", "look": "Zk3v9QpX7mLw2RtY8sNb4HcD",
    "password": "hunter2-user", "referer": "refer-778899aa", "location": "moved-5566ccdd",
    "jwt": "eyJhbGciOiJub25lIn0.eyJzdWIiOiI0NzExIn0.c2lnbmF0dXJl",
}
PATHS = (f"/?access_token={SECRETS['token']}&page=2", f"/of/{SECRETS['cookie']}/a.css",
         f"/in/{SECRETS['token']}/b.js?v=1")


class ViewHeads(PageCase, harness.TestCase):
    def make_page(self, file, *inputs):
        done = harness.run("view", *map(str, inputs), "-o", str(file), *self.options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def setUp(self):
        super().setUp()
        self.options = ()
        fields = (f"Set-Cookie: sid={SECRETS['set-cookie']}; Path=/; HttpOnly\r\n"
                  f"Location: /next?code={SECRETS['location']}\r\n"
                  f"X-Random: {SECRETS['look']}\r\nX-Proof: {SECRETS['jwt']}\r\n"
                  "X-Twice: one\r\nX-Twice: two\r\nContent-Type: text/html\r\n")
        origin = self.origin(lambda request: response(b"x", headers=fields.encode()),
                             names=(NAME,), tls=Certificate(self.folder / "tls", (NAME,)))
        self.archive = self.folder / "shop.reprise"
        recorder = self.record(self.archive, origins=[origin])
        asked = (f"Cookie: sid={SECRETS['cookie']}; theme=dark-1\r\n"
                 f"Authorization: Bearer {SECRETS['bearer']}\r\n"
                 f"X-Api-Key: {SECRETS['api key']}\r\n"
                 f"Referer: https://me:{SECRETS['password']}@{NAME}/?sig={SECRETS['referer']}\r\n"
                 "Accept: text/html\r\n")
        with recorder.connect("https", NAME) as client:
            for path in PATHS:
                client.get(path, NAME, headers=asked.encode())
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def page_text(self, *inputs):
        self.make_page(self.folder / "page.html", *inputs)
        return (self.folder / "page.html").read_text()

    def test_no_secret_is_on_the_page_unless_it_is_asked_for(self):
        load = view_results.load_of(1, 3, view_results.random.Random(1), {})
        load["requests"][1]["url"] = f"https://{NAME}{PATHS[0]}"
        load["requests"][2]["initiator"] = f"https://{NAME}/?x={SECRETS['look']}"
        load["console_errors"] = [f"refused Bearer {SECRETS['bearer']} at /of/{SECRETS['cookie']}"]
        result = self.folder / "loads.json"
        result.write_text(json.dumps(view_results.result_of([load])))
        for options, is_shown in (((), False), (("--heads", "none"), False),
                                  (("--heads", "redacted"), False), (("--heads", "full"), True)):
            self.options = options
            text = self.page_text(result, self.archive)
            for place, secret in SECRETS.items():
                with self.subTest(options=options, place=place):
                    self.assertEqual(secret in text, is_shown)
            self.assertEqual("X-Twice" in text, "none" not in options)
        self.options = ("--heads", "some")
        done = harness.run("view", str(self.archive), *self.options)
        self.assertEqual(done.returncode, 2)

    def test_a_request_has_its_heads_a_command_line_and_a_link(self):
        self.look("heads", self.archive)
        self.open(self.archive, fragment="#load=1&request=2")
        self.assertEqual(self.texts(".row[aria-selected=true] .path"), ["a.css"])
        self.assertEqual(self.texts(".heads summary"), ["Request head 6 fields",
                                                        "Response head 8 fields"])
        rows = dict(zip(self.texts(".heads th"), self.texts(".heads td")))
        self.assertEqual(rows["Cookie"], "sid=REDACTED; theme=REDACTED")
        self.assertEqual(rows["Set-Cookie"], "sid=REDACTED; Path=/; HttpOnly")
        self.assertEqual(rows["Authorization"], "Bearer REDACTED")
        self.assertEqual(rows["Referer"], f"https://REDACTED@{NAME}/?sig=REDACTED")
        self.assertEqual(self.texts(".heads th").count("X-Twice"), 2)
        self.assertEqual(self.texts(".start-line")[0], "GET /of/REDACTED/a.css HTTP/1.1")
        self.page.evaluate("document.querySelector('.copy').click()")
        self.page.settle()
        words = shlex.split(self.texts(".command")[0])
        self.assertEqual(words[:4], ["curl", "--globoff", "--url",
                                     f"https://{NAME}/of/REDACTED/a.css"])
        self.assertIn("Accept: text/html", words)
        # A link leads to another request, without loading the page again.
        self.page.evaluate("location.hash = '#load=1&request=3'")
        self.page.settle()
        self.assertEqual(self.texts(".row[aria-selected=true] .path"), ["b.js?v=1"])
        self.page.evaluate("document.querySelector('.waterfall').focus()")
        self.page.press("ArrowUp")
        self.assertEqual(self.page.evaluate("location.hash"), "#load=1&request=2")

    def test_the_requests_are_saved_as_csv_and_har(self):
        self.open(self.archive)
        files = {}
        for name in ("CSV", "HAR"):
            def press(name=name):
                self.page.evaluate(f"""[...document.querySelectorAll('.save')]
                    .find(each => each.textContent === '{name}').click()""")
            path = self.page.download(self.folder, press)
            files[name] = path.read_text()
        rows = list(csv.DictReader(io.StringIO(files["CSV"])))
        self.assertEqual([row["status"] for row in rows], ["200"] * 3)
        self.assertEqual(rows[2]["url"], f"https://{NAME}/in/REDACTED/b.js?v=1")
        log = json.loads(files["HAR"])["log"]
        self.assertEqual([each["request"]["url"] for each in log["entries"]],
                         [row["url"] for row in rows])
        fields = [each["name"] for each in log["entries"][0]["response"]["headers"]]
        self.assertEqual(fields.count("X-Twice"), 2)
        imported = self.folder / "imported.har"
        imported.write_text(files["HAR"])
        done = harness.run("view", str(imported), "-o", str(self.folder / "again.html"))
        self.assertEqual(done.returncode, 0, done.stderr.decode())


if __name__ == "__main__":
    harness.main()
