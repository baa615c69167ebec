#!/usr/bin/env python3
"""The demonstration's site over HTTP/2 from a replay, to every client that Debian has: Chromium,
with the recorded sharing of connections, curl, nghttp and h2load."""

import json
import pathlib
import subprocess
import sys

import harness
from coalescing_test import BROWSER, sessions_of
from nginx_site import NGINX
from wire import DEADLINE_SECONDS

PAGE = "https://www.meadow.test/"
SHARED = {"www.meadow.test", "static.meadow.test", "img.meadow.test"}
ALONE = "api.larkspur.test"


class DemoOverHttp2(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.work = self.folder / "site"
        self.work.mkdir()
        self.start_origin()
        self.archive = self.folder / "a.reprise"
        connects = [argument for line in (self.work / "connect").read_text().split()
                    for argument in ("--connect-to", line)]
        done = harness.run("record", "-o", str(self.archive), *connects, "--origin-ca",
                           str(self.work / "tls/ca.pem"), PAGE, folder=self.folder,
                           timeout=90)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.stop_origin()

    def start_origin(self):
        make_site = harness.REPOSITORY / "tools/demo_site/make_site.py"
        subprocess.run([sys.executable, "-B", make_site, self.work, self.folder], check=True,
                       capture_output=True)
        self.nginx = subprocess.Popen([NGINX, "-p", self.work, "-e", self.work / "error.log", "-c",
                                       self.work / "nginx.conf", "-g", "daemon off;"],
                                      stdin=subprocess.DEVNULL)
        self.addCleanup(self.stop_origin)
        for _ in harness.watch_folder(self.work, self.nginx.pid):
            if (self.work / "nginx.pid").exists():
                return
            if self.nginx.poll() is not None:
                break
        raise AssertionError((self.work / "error.log").read_text())

    def stop_origin(self):
        if self.nginx.poll() is None:
            self.nginx.terminate()
            self.nginx.wait(DEADLINE_SECONDS)

    def gets(self):
        """The status of each URL that was fetched by GET."""
        listed = self.archive_json("ls", str(self.archive))
        self.assertEqual({entry["version"] for entry in listed}, {"h2"})
        return {entry["url"]: str(entry["status"]) for entry in listed if entry["method"] == "GET"}

    def test_chromium_shares_connections_as_recorded(self):
        netlog, result = self.folder / "netlog.json", self.folder / "result.json"
        done = harness.run("load", str(self.archive), PAGE, "-o", str(result), "--browser", BROWSER,
                           "--chromium-flag", f"--log-net-log={netlog}", folder=self.folder,
                           timeout=90)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        loaded = json.loads(result.read_text())
        requests = [each for each in loaded["loads"][0]["requests"] if not each["from_cache"]]
        self.assertGreater(len(requests), 20)
        # Of what it blocks itself, after the answer, the browser shows no protocol.
        self.assertEqual({each["protocol"] for each in requests if not each["failure"]}, {"h2"})
        self.assertLess(len([each for each in requests if each["failure"]]), 2)
        report = loaded["replays"][0]["report"]
        self.assertEqual((report["misses"], report["misdirected"]), (0, 0))
        self.assertEqual({(each["protocol"], each["assumed"]) for each in report["tls_hosts"]},
                         {("h2", False)})
        sessions = sessions_of(netlog)
        self.assertTrue(any(len(hosts & SHARED) > 1 for hosts in sessions), sessions)
        for hosts in sessions:
            self.assertTrue(hosts <= SHARED or hosts == {ALONE}, sessions)

    def test_curl_nghttp_and_h2load(self):
        statuses = self.gets()
        self.assertGreater(len(statuses), 20)
        replay = self.replay(self.archive)
        at = replay.ready["https"]
        done = subprocess.run(["curl", "-sS", "--http2", "--cacert", replay.ca_file,
                               "--connect-to", "::" + at, "-w",
                               "%{http_version} %{http_code} %{url_effective}\n", "-Z",
                               *(part for url in statuses for part in ("-o", "/dev/null", url))],
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.splitlines()),
                         sorted(f"2 {status} {url}" for url, status in statuses.items()))

        paths = {url.removeprefix(PAGE): status for url, status in statuses.items()
                 if url.startswith(PAGE)}
        done = subprocess.run(["nghttp", "-ns", "-H", ":authority: www.meadow.test",
                               *(f"https://{at}/{path}" for path in paths)],
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split() for line in done.stdout.splitlines() if line.strip()[:1].isdigit()]
        self.assertEqual({line[-1]: line[4] for line in lines},
                         {"/" + path: status for path, status in paths.items()})

        for url in (url for url, status in statuses.items() if status == "200"):
            done = subprocess.run(["h2load", "-n", "20", "-c", "2", "-m", "10", "--connect-to", at,
                                   url], capture_output=True, text=True, check=False, timeout=60)
            self.assertIn("20 succeeded, 0 failed, 0 errored", done.stdout, url)
            self.assertIn("Application protocol: h2\n", done.stdout)
        self.assertEqual(replay.stop(), 0, replay.log())


if __name__ == "__main__":
    if BROWSER is None or not pathlib.Path(NGINX).exists():
        print("skipped: Chromium and nginx are needed")
        sys.exit(harness.SKIPPED)
    harness.main()
