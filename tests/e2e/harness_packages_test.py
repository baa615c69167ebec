#!/usr/bin/env python3
"""harnesses/npm and harnesses/python without any package: they start and end reprise, and what they
give to a harness leads a browser to it. tests/e2e/harnesses_figure.py drives the harnesses."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

import harness
from wire import HOST, Certificate, response

NPM = harness.REPOSITORY / "harnesses/npm"
PYTHON = harness.REPOSITORY / "harnesses/python"
BROWSER = shutil.which(harness.BROWSER)
PAGE = (b"<!doctype html><title>t</title><link rel=icon href=data:,>"
        b"<script>document.title = 'ran'</script>")
LISTENERS_OFF = [each for name in ("--http", "--https", "--proxy") for each in (name, "off")]
ADDRESSES = [{"REPRISE_CHROMIUM_FLAGS_JSON": "[]", "REPRISE_CA": "/ca.pem", **each} for each in (
    {"REPRISE_HTTP": "[::1]:81", "REPRISE_HTTPS": "[::1]:444", "REPRISE_PROXY": "127.0.0.1:82"},
    {"REPRISE_HTTP": "0.0.0.0:81"}, {"REPRISE_PROXY": "127.0.0.2:8081"}, {})]
VIEW = """JSON.stringify({
  http: session.http, https: session.https, proxy: session.proxy, dns: session.dns,
  ca: session.ca, script: session.script, flags: session.chromiumFlags,
  preferences: session.firefoxPreferences })"""


class Packages(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"
        origin = self.origin(lambda _: response(PAGE, headers=b"Content-Type: text/html\r\n"),
                             tls=Certificate(self.folder / "tls"))
        recorder = self.record(self.archive, origins=(origin,))
        with recorder.connect("https") as client:
            client.get("/")
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def environment(self):
        return {**harness.environment(self.folder), "REPRISE": harness.REPRISE,
                "PYTHONPATH": str(PYTHON), "NPM": str(NPM), "ARCHIVE": str(self.archive),
                "HOST": HOST, "BROWSER": BROWSER or ""}

    def command(self, text):
        raise NotImplementedError

    def script(self, text, code=0):
        """What the script prints last, a line of JSON."""
        done = subprocess.run(self.command(text), capture_output=True, text=True, check=False,
                              timeout=harness.DEADLINE_SECONDS, env=self.environment())
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout.splitlines()[-1]) if code == 0 else done.stderr

    def check_session(self, found):
        for name in ("http", "https", "proxy", "dns"):
            self.assertRegex(found[name], r"^127\.0\.0\.1:\d+$")
        self.assertTrue(pathlib.Path(found["ca"]).exists())
        self.assertTrue(any(flag.startswith("--host-resolver-rules=MAP " + HOST)
                            for flag in found["flags"]), found["flags"])
        self.assertEqual(found["preferences"]["network.socket.forcePort"],
                         f"80={found['http'][10:]};443={found['https'][10:]}")

    def check_firefox(self, found):
        """`found`: the preferences of a session for each of ADDRESSES."""
        both, any_address, proxy, nothing = found
        self.assertEqual(both["network.dns.forceResolve"], "::1")
        self.assertEqual(both["network.socket.forcePort"], "80=81;443=444")
        self.assertEqual(any_address["network.dns.forceResolve"], "127.0.0.1")
        self.assertEqual([each["network.proxy.type"] for each in found], [0, 0, 1, 0])
        for scheme in ("http", "ssl"):
            self.assertEqual(proxy[f"network.proxy.{scheme}"], "127.0.0.2")
            self.assertEqual(proxy[f"network.proxy.{scheme}_port"], 8081)
        self.assertNotIn("network.dns.forceResolve", {**proxy, **nothing})

    def check_unreachable(self, script, code):
        """`script` starts reprise with the arguments in place of %s, which fails with `code`."""
        packets = harness.run("shape", "--link", "none", "--no-selfcheck", "--", "true")
        links = [["--link", "none", "--no-selfcheck"]] if packets.returncode == 0 else []
        for arguments in (LISTENERS_OFF, *links):
            pathlib.Path(f"{self.archive}.new").unlink(missing_ok=True)
            said = self.script(script % json.dumps(arguments), code)
            self.assertIn("add --shaper stream, or run the harness as -- COMMAND", said)

    def check_inside(self, inside):
        """`inside`: a script that prints the session of its environment."""
        for place in ("documents", "browser"):
            done = subprocess.run([harness.REPRISE, "replay", str(self.archive), "--proxy", "off",
                                   "--script-in", place, "--", *self.command(inside)],
                                  capture_output=True, check=False, env=self.environment(),
                                  timeout=harness.DEADLINE_SECONDS)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = json.loads(done.stdout)
            self.assertIsNone(found["proxy"])
            self.check_session({**found, "proxy": found["http"]})
            if place == "browser":
                self.assertIn("Math", found["script"])
            else:
                self.assertIsNone(found["script"])


@unittest.skipUnless(shutil.which("node"), "no node")
class Npm(Packages):
    def command(self, text):
        return ["node", "-e", "const { startReplay, startRecord, fromEnvironment,"
                "playwrightFixtures } = require(process.env.NPM);\n"
                "(async () => {" + text + "})().catch((e) => { console.error(e.message);"
                "process.exit(3); });"]

    def test_a_replay_starts_and_ends_with_its_report(self):
        found = self.script(f"""
            const session = await startReplay(process.env.ARCHIVE,
              {{ args: ['--strict', '--script-in', 'browser'] }});
            const view = {VIEW};
            const ended = await session.stop();
            console.log(JSON.stringify([JSON.parse(view), ended]));""")
        self.check_session(found[0])
        self.assertIn("Math", found[0]["script"])
        self.assertEqual(found[1]["exitCode"], 0)
        self.assertEqual((found[1]["report"]["hits"], found[1]["report"]["misses"]), (0, 0))

    @unittest.skipUnless(BROWSER, "no chromium")
    def test_a_browser_loads_the_page_with_the_flags(self):
        found = self.script("""
            const { execFileSync } = require('child_process');
            const session = await startReplay(process.env.ARCHIVE);
            const { args } = session.puppeteer({ args: ['--headless', '--no-sandbox', '--dump-dom',
              `https://${process.env.HOST}/`] });
            const dom = execFileSync(process.env.BROWSER, args, { stdio: 'pipe' }).toString();
            const { exitCode, report } = await session.stop();
            console.log(JSON.stringify({ dom, exitCode, hits: report.hits }));""")
        self.assertIn("<title>ran</title>", found["dom"])
        self.assertEqual((found["exitCode"], found["hits"]), (0, 1))

    def test_a_failed_start_says_why(self):
        said = self.script("await startReplay('/no/such.reprise');", code=3)
        self.assertIn("exit status 3", said)
        self.assertIn("/no/such.reprise", said)
        said = self.script("await startReplay('a', { reprise: '/no/such/program' });", code=3)
        self.assertIn("/no/such/program", said)

    def test_what_no_browser_reaches_is_refused(self):
        self.check_unreachable("await startReplay(process.env.ARCHIVE, { args: %s });", 3)
        self.check_unreachable("await startRecord(process.env.ARCHIVE + '.new', { args: %s });", 3)
        self.check_unreachable("""
            const given = playwrightFixtures(process.env.ARCHIVE, { args: %s });
            await given.reprise[0]({}, () => process.exit(4));""", 3)

    def test_a_recording_starts_and_ends(self):
        found = self.script("""
            const session = await startRecord(process.env.ARCHIVE + '.new');
            console.log(JSON.stringify(await session.stop()));""")
        self.assertEqual(found, {"exitCode": 0, "report": None})
        self.assert_sound(f"{self.archive}.new")

    def test_inside_a_command_the_session_is_that_of_the_environment(self):
        self.check_inside(f"const session = fromEnvironment(); console.log({VIEW});")
        self.assertIs(self.script("console.log(JSON.stringify(fromEnvironment()));"), None)

    def test_firefox_is_led_to_the_listeners_or_else_to_the_proxy(self):
        self.check_firefox(self.script(f"""
            console.log(JSON.stringify({json.dumps(ADDRESSES)}.map(
              (each) => fromEnvironment(each).firefoxPreferences)));"""))

    def test_a_worker_of_playwright_fails_with_its_replay(self):
        said = self.script("""
            const http = require('http');
            const given = playwrightFixtures(process.env.ARCHIVE, { args: ['--strict'] });
            await given.reprise[0]({}, (session) => new Promise((done, fail) => {
              http.get(`http://${session.http}/none`,
                { agent: false, headers: { Host: process.env.HOST } },
                (response) => response.resume().on('end', done)).on('error', fail);
            }));""", code=3)
        self.assertIn("reprise ended with exit status 5", said)

    def test_options_of_harnesses_keep_what_they_had(self):
        found = self.script("""
            const session = await startReplay(process.env.ARCHIVE);
            const wdio = session.webdriverio({ logLevel: 'error', capabilities: {
              'goog:chromeOptions': { binary: '/b', args: ['--mine'] } } });
            const firefox = session.capabilities({ browserName: 'firefox',
              'moz:firefoxOptions': { args: ['-headless'], prefs: { mine: 1 } } });
            const puppeteer = session.puppeteer({ browser: 'firefox', headless: true });
            const playwright = session.playwright({ headless: true, args: ['--mine'] });
            const given = playwrightFixtures(process.env.ARCHIVE);
            let inFixture;
            await given.reprise[0]({}, async (reprise) => {
              await given.launchOptions[0]({ reprise, launchOptions: { slowMo: 1 } }, (options) => {
                inFixture = [options.slowMo, options.args.length, reprise.http !== session.http];
              });
            });
            const flags = session.chromiumFlags;
            await session.stop();
            console.log(JSON.stringify({ wdio, firefox, puppeteer, playwright, flags,
              inFixture }));""")
        flags = found["flags"]
        chrome = found["wdio"]["capabilities"]
        self.assertEqual(found["wdio"]["logLevel"], "error")
        self.assertEqual(chrome["browserName"], "chrome")
        self.assertEqual(chrome["goog:chromeOptions"], {"binary": "/b", "args": [*flags, "--mine"]})
        self.assertEqual(found["playwright"], {"headless": True, "args": [*flags, "--mine"]})
        prefs = found["firefox"]["moz:firefoxOptions"]["prefs"]
        self.assertEqual(found["firefox"]["moz:firefoxOptions"]["args"], ["-headless"])
        self.assertIs(found["firefox"]["acceptInsecureCerts"], True)
        self.assertEqual((prefs["mine"], prefs["network.dns.forceResolve"]), (1, "127.0.0.1"))
        self.assertIn("network.socket.forcePort", found["puppeteer"]["extraPrefsFirefox"])
        self.assertNotIn("args", found["puppeteer"])
        self.assertEqual(found["inFixture"], [1, len(flags), True])

    def test_reprise_ends_with_its_caller_even_when_that_is_killed(self):
        caller = subprocess.Popen(
            self.command("""
                const session = await startRecord(process.env.ARCHIVE + '.new');
                console.log(session.http);"""),
            stdout=subprocess.PIPE, env=self.environment())
        with caller:
            self.assertRegex(caller.stdout.readline(), rb":\d+\n")
            running = self.descendant(caller.pid)
            caller.send_signal(signal.SIGKILL)
        for _ in harness.watch_folder(self.folder, running):
            if not pathlib.Path(f"/proc/{running}/exe").exists():
                return self.assert_sound(f"{self.archive}.new")
        self.fail("it still runs")

    def descendant(self, pid):
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return next(int(each) for each in children
                    if os.path.samefile(f"/proc/{each}/exe", harness.REPRISE))


class Python(Packages):
    def command(self, text):
        return [sys.executable, "-c", "import json, os, reprise, sys\n"
                "archive = os.environ['ARCHIVE']\n"
                "def view(session):\n"
                "    return {**{name: getattr(session, name) for name in\n"
                "               ('http', 'https', 'proxy', 'dns', 'ca')},\n"
                "            'flags': session.chromium_flags, 'script': session.script,\n"
                "            'preferences': session.firefox_preferences}\n" + text]

    def test_a_replay_starts_and_ends_with_its_report(self):
        found = self.script("""
with reprise.replay(archive, "--strict", "--script-in", "browser") as session:
    seen = view(session)
print(json.dumps([seen, session.exit_code, session.report["misses"]]))""")
        self.check_session(found[0])
        self.assertIn("Math", found[0]["script"])
        self.assertEqual(found[1:], [0, 0])

    @unittest.skipUnless(BROWSER, "no chromium")
    def test_a_browser_loads_the_page_with_the_flags(self):
        found = self.script("""
import subprocess
class Options(list):
    add_argument = list.append
with reprise.replay(archive) as session:
    options = session.chrome_options(Options(["--headless", "--no-sandbox", "--dump-dom"]))
    url = "https://" + os.environ["HOST"] + "/"
    dom = subprocess.run([os.environ["BROWSER"], *options, url], capture_output=True, text=True)
print(json.dumps([dom.stdout, session.report["hits"]]))""")
        self.assertIn("<title>ran</title>", found[0])
        self.assertEqual(found[1], 1)

    def test_firefox_is_led_to_the_listeners_or_else_to_the_proxy(self):
        self.check_firefox(self.script(f"""
print(json.dumps([reprise.from_environment(each).firefox_preferences
                  for each in json.loads('{json.dumps(ADDRESSES)}')]))"""))

    def test_options_of_firefox_get_preferences_and_trust(self):
        found = self.script("""
class Options:
    def __init__(self):
        self.preferences = {}
    def set_preference(self, name, value):
        self.preferences[name] = value
with reprise.replay(archive) as session:
    options = session.firefox_options(Options())
print(json.dumps([options.accept_insecure_certs, options.preferences]))""")
        self.assertIs(found[0], True)
        self.assertEqual(found[1]["network.dns.forceResolve"], "127.0.0.1")

    def test_a_failed_start_says_why(self):
        said = self.script("reprise.replay('/no/such.reprise')", code=1)
        self.assertIn("exit status 3", said)
        self.assertIn("/no/such.reprise", said)

    def test_what_no_browser_reaches_is_refused(self):
        self.check_unreachable("reprise.replay(archive, *%s)", 1)
        self.check_unreachable("reprise.record(archive + '.new', *%s)", 1)

    def test_a_recording_starts_and_ends(self):
        found = self.script("""
with reprise.record(archive + ".new") as session:
    pass
print(json.dumps([session.exit_code, session.report]))""")
        self.assertEqual(found, [0, None])
        self.assert_sound(f"{self.archive}.new")

    def test_inside_a_command_the_session_is_that_of_the_environment(self):
        self.check_inside("print(json.dumps(view(reprise.from_environment())))")
        self.assertIs(self.script("print(json.dumps(reprise.from_environment()))"), None)


if __name__ == "__main__":
    harness.main()
