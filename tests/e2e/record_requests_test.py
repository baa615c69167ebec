#!/usr/bin/env python3
"""What the user changes while recording: a certificate for origins that ask for one, more header
fields, requests that are not sent, and the device that the browser pretends to be."""

import json
import shutil
import ssl
import subprocess
import unittest

import harness
from wire import HOST, Certificate, response

OTHER = "other.test"
BROWSER = shutil.which(harness.BROWSER)
HTML = b"Content-Type: text/html\r\n"
# A page that differs for phones, by what the server and what the script sees.
DEVICE_PAGE = b"""<!doctype html><meta name=viewport content=width=device-width><title>%s</title>
<pre id=told></pre><script>
document.getElementById("told").textContent = JSON.stringify({
  width: innerWidth, scale: devicePixelRatio, touch: navigator.maxTouchPoints,
  agent: navigator.userAgent, mobile: navigator.userAgentData && navigator.userAgentData.mobile});
fetch(matchMedia("(max-width: 600px)").matches ? "/small" : "/large");
</script>"""


class MutualTls(Certificate):
    """Asks clients for a certificate of its own authority."""

    def server_context(self):
        context = super().server_context()
        context.load_verify_locations(self.ca_file)
        context.verify_mode = ssl.CERT_REQUIRED
        return context


class RecordRequests(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"

    def listed(self, *filters):
        return self.archive_json("ls", str(self.archive), *filters)

    def test_a_client_certificate_for_the_origin_that_asks_for_one(self):
        tls = MutualTls(self.folder / "tls", (HOST, OTHER))
        origin = self.origin(lambda _: response(b"for members"), names=(HOST, OTHER), tls=tls)
        mine = self.folder / "mine.pem"
        mine.write_bytes(tls.leaf_file.read_bytes() +
                         tls.leaf_file.with_suffix(".key").read_bytes())
        recorder = self.record(self.archive, "--client-cert", f"{HOST}={mine}", origins=[origin])
        with recorder.connect("https") as client:
            self.assertEqual(client.get("/").body, b"for members", recorder.log())
        with recorder.connect("https", OTHER) as client:
            self.assertEqual(client.get("/", OTHER).status, 502)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assertNotIn(b"PRIVATE KEY", self.archive.read_bytes())
        for text, said in ((str(mine), "must be HOST=FILE"), (f"{HOST}=/none", "No such file"),
                           (f"{HOST}={tls.leaf_file}", "no private key")):
            done = harness.run("record", "-o", str(self.folder / "b.reprise"), "--client-cert",
                               text, folder=self.folder)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn(said, done.stderr.decode())

    def test_fields_for_one_host_and_for_all_that_are_not_archived(self):
        origin = self.origin(lambda _: response(b"x"), names=(HOST, OTHER))
        recorder = self.record(self.archive, "--header", f"{HOST}=X-Key: planted-secret",
                               "--header", "User-Agent: Preview", origins=[origin])
        for host in (HOST, OTHER):
            with recorder.connect("http", host) as client:
                client.get("/", host, headers=b"User-Agent: mine\r\n")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        here, there = origin.requests
        self.assertEqual(here.all(b"x-key"), [b"planted-secret"])
        self.assertEqual(there.all(b"x-key"), [])
        self.assertEqual([each.all(b"user-agent") for each in origin.requests],
                         [[b"Preview"], [b"Preview"]])
        self.assertNotIn(b"planted-secret", self.archive.read_bytes())

    def test_blocked_requests_are_not_sent_and_stay_failed(self):
        origin = self.origin(lambda request: response(request.target.encode()),
                             names=(HOST, OTHER))
        recorder = self.record(self.archive, "--block", f"host={OTHER}", "--block",
                               "resource=image", origins=[origin])
        asked = ((HOST, "/page", b""), (OTHER, "/ad", b""),
                 (HOST, "/picture", b"Sec-Fetch-Dest: image\r\n"))
        statuses = []
        for host, path, headers in asked:
            with recorder.connect("http", host) as client:
                statuses.append(client.get(path, host, headers=headers).status)
        self.assertEqual(statuses, [200, 502, 502])
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assertIn("2 failed (2 blocked by --block)", recorder.log())
        self.assertEqual([each.target for each in origin.requests], ["/page"])
        self.assertEqual(len(self.listed("outcome=failed")), 2)
        shown = harness.run("archive", "show", str(self.archive), "2").stdout.decode()
        self.assertIn(f"--block 'host={OTHER}'", shown)
        done = harness.run("record", "-o", str(self.folder / "b.reprise"), "--block", "status=200",
                           folder=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--block: ", done.stderr.decode())

    def test_without_urls_there_is_no_browser_to_set(self):
        for words in (["--device", "Pixel 9"], ["--load-report", "r.json"], ["--timeout", "5"]):
            done = harness.run("record", "-o", "a.reprise", *words, "--", "true",
                               folder=self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{words[0]} needs URLs".encode(), done.stderr)

    def test_a_page_needs_more_time_than_it_has_to_be_quiet(self):
        done = harness.run("record", "-o", "a.reprise", "--timeout", "2", "http://a.test/",
                           folder=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--timeout must be longer than --quiet (2000 ms)", done.stderr)
        self.assertFalse((self.folder / "a.reprise").exists())

    def test_its_own_browser_has_the_script_itself(self):
        done = harness.run("record", "-o", "a.reprise", "--script-in", "documents",
                           "http://a.test/", folder=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--script-in documents is for -- COMMAND", done.stderr)

    @unittest.skipUnless(BROWSER, "no Chromium")
    def test_a_phone_gets_another_page(self):
        def answer(request):
            agent = b"".join(request.all(b"user-agent"))
            title = b"phone" if b"Mobile" in agent else b"desk"
            return response(DEVICE_PAGE % title, headers=HTML)

        tls = Certificate(self.folder / "tls", (HOST,))
        origin = self.origin(answer, tls=tls)
        done = subprocess.run(
            [harness.REPRISE, "record", "-o", str(self.archive), "--browser", BROWSER, "--device",
             "Pixel 9", *origin.connect_arguments(), f"https://{HOST}/"], capture_output=True,
            stdin=subprocess.DEVNULL, env=harness.environment(self.folder),
            timeout=4 * harness.DEADLINE_SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        page = origin.requests[0]
        self.assertEqual(page.all(b"sec-ch-ua-mobile"), [b"?1"])
        self.assertEqual(page.all(b"sec-ch-ua-platform"), [b'"Android"'])
        self.assertIn(b"Mobile", page.all(b"user-agent")[0])
        self.assertEqual(len(self.listed("path=/small")), 1)
        told = self.told("--device", "pixel 9")
        self.assertEqual((told["width"], told["scale"], told["touch"], told["mobile"]),
                         (412, 2.625, 5, True))
        self.assertIn("Mobile", told["agent"])
        self.assertEqual(self.told()["width"], 1280)

    def told(self, *arguments):
        result = self.folder / "loads.json"
        done = harness.run("load", str(self.archive), "--browser", BROWSER, "--dom", "-o",
                           str(result), *arguments, folder=self.folder,
                           timeout=4 * harness.DEADLINE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        dom = json.loads(result.read_text())["loads"][0]["dom"]
        return json.loads(dom.split('<pre id="told">')[1].split("</pre>")[0])

    def test_devices_are_listed(self):
        listed = json.loads(harness.run("profiles", "--devices", "--json").stdout)
        self.assertIn("Pixel 9", [each["name"] for each in listed])
        self.assertIn(b"Pixel 9", harness.run("profiles").stdout)
        done = harness.run("load", "--live", "http://a.test/", "--device", "Abacus")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"'Abacus' is not a known device", done.stderr)


if __name__ == "__main__":
    harness.main()
