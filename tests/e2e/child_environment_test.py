#!/usr/bin/env python3
"""The environment of `-- COMMAND`: where the listeners are, and the variables by which clients
that know nothing of reprise trust its CA."""

import json
import pathlib
import shutil
import subprocess
import sys
import unittest

import harness
from wire import HOST, Certificate, response

ADDRESSES = ("REPRISE_HTTP", "REPRISE_HTTPS", "REPRISE_PROXY", "REPRISE_DNS")
ALL_ROOTS = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO")
SYSTEM_ROOTS = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
URL = f"https://{HOST}/"
COMMIT = "a9993e364706816aba3e25717850c26c9cd0d89d"

WRITE = "import json, os, sys; json.dump(dict(os.environ), open(sys.argv[1], 'w'))"
URLLIB = """
import os, sys, urllib.request
proxy = urllib.request.ProxyHandler({"https": "http://" + os.environ["REPRISE_PROXY"]})
sys.stdout.write(urllib.request.build_opener(proxy).open(sys.argv[1]).read().decode())
"""
REQUESTS = """
import os, requests, sys
proxies = {"https": "http://" + os.environ["REPRISE_PROXY"]}
sys.stdout.write(requests.get(sys.argv[1], proxies=proxies).text)
"""
NODE = """
const [address, port] = process.env.REPRISE_HTTPS.split(':');
const { hostname } = new URL(process.argv[1]);
require('https').get({ host: address, port, servername: hostname, headers: { host: hostname } },
  (answer) => answer.pipe(process.stdout));
"""


def site(request):
    if request.target.startswith("/r.git/info/refs"):
        return response(f"{COMMIT}\trefs/heads/main\n".encode())
    if request.target == "/r.git/HEAD":
        return response(b"ref: refs/heads/main\n")
    return response(b"hello")


def requests_is_installed():
    return not subprocess.run([sys.executable, "-c", "import requests"], capture_output=True,
                              check=False).returncode


class ChildEnvironment(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"
        origin = self.origin(site, tls=Certificate(self.folder / "tls"))
        recorder = self.record(self.archive, origins=(origin,))
        with recorder.connect("https") as client:
            for path in ("/", "/r.git/info/refs?service=git-upload-pack", "/r.git/HEAD"):
                client.get(path)
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def run_command(self, *command, options=(), **variables):
        """`replay ... -- COMMAND` with these variables in its own environment."""
        env = {**harness.environment(self.folder), "XDG_CACHE_HOME": str(self.folder / "cache"),
               **variables}
        for name in (*ALL_ROOTS, "NODE_EXTRA_CA_CERTS"):
            if name not in variables:
                env.pop(name, None)
        return subprocess.run([harness.REPRISE, "replay", "--inject", "none", *options,
                               str(self.archive), "--", *command], capture_output=True, check=False,
                              timeout=harness.DEADLINE_SECONDS, env=env)

    def variables(self, *options, **variables):
        """What the command finds in its environment."""
        written = self.folder / "environment.json"
        done = self.run_command(sys.executable, "-c", WRITE, str(written), options=options,
                                **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(written.read_text())

    def test_the_addresses_are_those_of_the_ready_file(self):
        ready_file = self.folder / "ready.json"
        found = self.variables("--ready-file", str(ready_file))
        ready = json.loads(ready_file.read_text())
        self.assertEqual([found[name] for name in ADDRESSES],
                         [ready[name] for name in ("http", "https", "proxy", "dns")])
        self.assertEqual(found["REPRISE_CA"], ready["ca_file"])
        self.assertEqual(json.loads(found["REPRISE_CHROMIUM_FLAGS_JSON"]), ready["chromium_flags"])
        words = subprocess.run(
            ["sh", "-c", f"printf '%s\\n' {found['REPRISE_CHROMIUM_FLAGS']}"], capture_output=True,
            text=True, check=True).stdout.splitlines()
        self.assertEqual(words, ready["chromium_flags"])

    def test_a_listener_that_is_off_is_empty_whatever_was_inherited(self):
        found = self.variables("--proxy", "off", REPRISE_PROXY="127.0.0.1:1")
        self.assertEqual(found["REPRISE_PROXY"], "")
        self.assertNotEqual(found["REPRISE_HTTP"], "")

    def test_the_roots_are_the_systems_and_ours_in_a_private_file_that_is_kept(self):
        found = self.variables()
        path = pathlib.Path(found["SSL_CERT_FILE"])
        self.assertEqual({found[name] for name in ALL_ROOTS}, {str(path)})
        self.assertEqual(path.parent, self.folder / "cache/reprise/roots")
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        ours = pathlib.Path(found["REPRISE_CA"]).read_text()
        self.assertEqual(path.read_text(), SYSTEM_ROOTS.read_text() + ours)
        self.assertEqual(found["NODE_EXTRA_CA_CERTS"], found["REPRISE_CA"])
        self.assertEqual(self.variables()["SSL_CERT_FILE"], str(path))
        self.assertEqual(list(path.parent.iterdir()), [path])

    def test_roots_that_the_user_named_stay(self):
        theirs, nodes = self.folder / "theirs.pem", self.folder / "nodes.pem"
        theirs.write_text("# theirs\n")
        nodes.write_text("# node's\n")
        found = self.variables(SSL_CERT_FILE=str(theirs), GIT_SSL_CAINFO=str(theirs),
                               NODE_EXTRA_CA_CERTS=str(nodes))
        ours = pathlib.Path(found["REPRISE_CA"]).read_text()
        for name in (*ALL_ROOTS, "NODE_EXTRA_CA_CERTS"):
            self.assertEqual(pathlib.Path(found[name]).read_text(), "# theirs\n# node's\n" + ours)

    def test_inside_another_reprise_nothing_is_added_twice(self):
        outer = self.variables()
        inner = self.variables(**{name: outer[name] for name in ALL_ROOTS})
        self.assertEqual(inner["SSL_CERT_FILE"], outer["SSL_CERT_FILE"])

    def test_without_a_folder_for_the_roots_the_command_runs_and_is_told(self):
        (self.folder / "file").write_text("")
        done = self.run_command("sh", "-c", "test -z $SSL_CERT_FILE && test -n $REPRISE_CA",
                                XDG_CACHE_HOME=str(self.folder / "file"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"$REPRISE_CA", done.stderr)

    def check(self, *command, wanted="hello"):
        done = self.run_command(*command)
        self.assertEqual((done.returncode, done.stdout.decode()), (0, wanted), done.stderr)
        done = self.run_command(*command, options=("--no-child-ca",))
        self.assertNotEqual(done.returncode, 0, "it trusts everything")

    def test_curl_trusts_us(self):
        self.check("sh", "-c", 'exec curl -sS -x "http://$REPRISE_PROXY" "$0"', URL)

    def test_pythons_urllib_trusts_us(self):
        self.check(sys.executable, "-c", URLLIB, URL)

    @unittest.skipUnless(requests_is_installed(), "no python3-requests")
    def test_pythons_requests_trusts_us(self):
        self.check(sys.executable, "-c", REQUESTS, URL)

    @unittest.skipUnless(shutil.which("node"), "no node")
    def test_node_trusts_us(self):
        self.check("node", "-e", NODE, URL)

    @unittest.skipUnless(shutil.which("git"), "no git")
    def test_git_trusts_us(self):
        self.check("sh", "-c",
                   'exec git -c http.proxy="http://$REPRISE_PROXY" ls-remote "$0" refs/heads/main',
                   URL + "r.git", wanted=f"{COMMIT}\trefs/heads/main\n")

    def test_behind_a_link_a_client_needs_nothing(self):
        done = self.run_command("curl", "-sS", URL,
                                options=("--link", "none", "--shaper", "packet", "--no-selfcheck"))
        if done.returncode == 4:
            self.skipTest(done.stderr.decode())
        self.assertEqual((done.returncode, done.stdout), (0, b"hello"), done.stderr)


if __name__ == "__main__":
    harness.main()
