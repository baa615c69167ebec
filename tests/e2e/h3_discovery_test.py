#!/usr/bin/env python3
"""Browsers find HTTP/3 in a replay as they found it at the origins: by Alt-Svc, by HTTPS records,
or not at all; behind a packet link, in Chromium and in Firefox.

Needs root or unprivileged user namespaces.
"""

import json
import shutil
import unittest

import dns_names
import harness
from wire import Certificate, response

BROWSERS = [name for name in (harness.BROWSER, "firefox-esr") if shutil.which(name)]
# Without windows, Chromium asks for no HTTPS records.
ASKING = [name for name in ("chromium", "firefox-esr") if shutil.which(name)]
OFFERS, SILENT, OTHER_PORT = "offers.test", "silent.test", "port.test"
IN_DNS = "record.test"
HOSTS = (OFFERS, SILENT, OTHER_PORT, IN_DNS)
ORIGIN = "127.0.0.5"  # where the listeners are not
STEPS = 12
# Each step asks for one thing of each host once the step before is complete: what is found on the
# way is used in the end.
PAGE = """<!doctype html><title>x</title><link rel=icon href=data:,><script>
(async () => {
  for (let step = 0; step < %d; ++step) {
    for (const host of %s) {
      await (await fetch(`https://${host}/${step}`)).text();
    }
  }
  document.body.append('done');
})();
</script><body>"""
# From port 443, Chromium goes to ports below 1024 alone.
ALT_SVC = {OFFERS: b'h2="elsewhere.test:443", h3=":443"; ma=86400',
           OTHER_PORT: b'h3=":444"; ma=86400'}


def answer_for(hosts, alt_svc):
    page = (PAGE % (STEPS, json.dumps(hosts))).encode()

    def answer(request):
        host = request.all(b"host")[0].decode().partition(":")[0]
        body = page if request.target == "/" else b"x" * 2000
        fields = b"Access-Control-Allow-Origin: *\r\nCache-Control: no-store\r\n"
        if host in alt_svc:
            fields += b"Alt-Svc: " + alt_svc[host] + b"\r\n"
        return response(body, headers=fields + b"Content-Type: text/html\r\n")
    return answer


@unittest.skipUnless(BROWSERS, "there is no browser")
class Discovery(harness.TestCase):
    @classmethod
    def setUpClass(cls):
        dns_names.raise_loopback()

    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"

    def recorded(self, hosts, alt_svc):
        tls = Certificate(self.folder / "tls", hosts)
        origin = self.origin(answer_for(hosts, alt_svc), tls=tls, address=ORIGIN, port=443)
        records = "".join(f"{host}. 60 IN A {ORIGIN}\n" for host in hosts)
        server = dns_names.NameServer(records + f"{IN_DNS}. 60 IN HTTPS 1 . alpn=h3,h2\n")
        self.addCleanup(server.close)
        recorder = self.record(self.archive, "--dns-server", server.at, "--origin-ca",
                               str(tls.ca_file))
        for host in hosts:
            with recorder.connect("https", host) as client:
                for target in ("/", *(f"/{step}" for step in range(STEPS))):
                    self.assertEqual(client.get(target, host).status, 200)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        origin.close()

    def loaded(self, browser, host, *arguments):
        result = self.folder / "loads.json"
        done = harness.run("load", str(self.archive), f"https://{host}/", "--browser", browser,
                           "--inject", "none", "--runs", "1", "--link", "20000/20000/60",
                           "--shaper", "packet", "--settle", "0", "--quiet", "2000",
                           "--timeout", "90", "-o", str(result), *arguments, folder=self.folder,
                           timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        written = json.loads(result.read_text())
        (load,) = written["loads"]
        self.assertEqual(written["replays"][0]["report"]["misses"], 0)
        protocols = {each: [] for each in HOSTS}
        for request in load["requests"]:
            if request["url"].startswith("https:"):
                protocols[request["url"].split("/")[2]].append(request["protocol"])
        return protocols

    def test_alt_svc_is_found_after_the_first_response(self):
        hosts = (OFFERS, SILENT, OTHER_PORT)
        self.recorded(hosts, ALT_SVC)
        for browser in BROWSERS:
            with self.subTest(browser=browser):
                protocols = self.loaded(browser, OFFERS)
                for host in (OFFERS, OTHER_PORT):
                    self.assertNotEqual(protocols[host][0], "h3", protocols)
                    # Not the last one: Firefox goes back to TCP when QUIC takes long.
                    self.assertIn("h3", protocols[host], protocols)
                self.assertNotIn("h3", protocols[SILENT])
                self.assertEqual(len(protocols[SILENT]), STEPS)

    def test_an_https_record_is_found_before_the_first_request(self):
        self.recorded((IN_DNS, SILENT), {})
        for browser in ASKING:
            with self.subTest(browser=browser):
                # Firefox goes back to TCP when QUIC takes long: on a busy machine, now and then.
                for _ in range(4 if browser == "firefox-esr" else 1):
                    protocols = self.loaded(browser, IN_DNS)
                    self.assertNotIn("h3", protocols[SILENT])
                    if set(protocols[IN_DNS]) == {"h3"}:
                        break
                self.assertEqual(set(protocols[IN_DNS]), {"h3"})

    def test_a_returning_visitor_knows_it(self):
        self.recorded((OFFERS, SILENT), ALT_SVC)
        for browser in BROWSERS:
            with self.subTest(browser=browser):
                protocols = self.loaded(browser, OFFERS, "--protocol", "h3-known")
                if browser == "firefox-esr":
                    # It asks over TCP while it connects over QUIC, and goes back to TCP when that
                    # takes long. Responses over TCP do not offer HTTP/3: it has known it.
                    self.assertIn("h3", protocols[OFFERS], protocols)
                else:
                    self.assertEqual(set(protocols[OFFERS]), {"h3"}, protocols)
                self.assertNotIn("h3", protocols[SILENT])

    @harness.thorough
    def test_one_protocol_for_all_ignores_offers(self):
        self.recorded((OFFERS, SILENT), ALT_SVC)
        protocols = self.loaded(BROWSERS[0], OFFERS, "--protocol", "h2")
        self.assertEqual({each for host in HOSTS for each in protocols[host]}, {"h2"})

    @harness.thorough
    def test_what_if_ends_an_offer(self):
        self.recorded((OFFERS, SILENT), ALT_SVC)
        protocols = self.loaded(BROWSERS[0], OFFERS, "--what-if", f"host={OFFERS}: protocol=h2")
        self.assertEqual(set(protocols[OFFERS]), {"h2"})


if __name__ == "__main__":
    harness.main_in_namespace("-nm")
