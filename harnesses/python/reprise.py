"""Starts reprise beside Selenium, and says how browsers reach it.

    import reprise
    from selenium import webdriver

    with reprise.replay("page.reprise") as session:
        driver = webdriver.Chrome(options=session.chrome_options())
        driver.get("https://www.example.org/")
        driver.quit()
    print(session.report["misses"])

Needs the `reprise` binary (on PATH, or named by $REPRISE), and Selenium only for options that the
caller does not give. Linux; Python 3.9 or newer.
"""

import json
import os
import subprocess
import tempfile

_UNREACHABLE = ("browsers cannot reach reprise: its listeners are off. Behind a packet link only "
                "the command reaches it: add --shaper stream, or run the harness as -- COMMAND")


class Session:
    """The addresses of a running reprise, and the options that lead browsers to it."""

    def __init__(self, ready, run=None):
        self.http = ready["http"] or None  # ADDR:PORT; None: off
        self.https = ready["https"] or None
        self.proxy = ready["proxy"] or None
        self.dns = ready["dns"] or None
        self.ca = ready["ca_file"]
        self.chromium_flags = ready["chromium_flags"]
        # With --script-in browser, what the browser must run before each document.
        self.script = ready.get("script") or None
        self._firefox_h3 = ready.get("firefox_prefs") or {}  # what HTTP/3 needs; empty: none
        self.exit_code = None  # after stop()
        self.report = None  # after stop(), of a replay
        self._run = run

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def chrome_options(self, options=None):
        """Adds the flags to Selenium's ChromeOptions; a new one unless given."""
        if options is None:
            from selenium.webdriver import ChromeOptions
            options = ChromeOptions()
        for flag in self.chromium_flags:
            options.add_argument(flag)
        return options

    def firefox_options(self, options=None):
        """Adds the preferences to Selenium's FirefoxOptions, and accepts the CA."""
        if options is None:
            from selenium.webdriver import FirefoxOptions
            options = FirefoxOptions()
        for name, value in self.firefox_preferences.items():
            options.set_preference(name, value)
        options.accept_insecure_certs = True
        return options

    @property
    def firefox_preferences(self):
        preferences = {
            "app.normandy.enabled": False,
            "browser.region.network.url": "",
            "browser.safebrowsing.downloads.enabled": False,
            "browser.safebrowsing.malware.enabled": False,
            "browser.safebrowsing.phishing.enabled": False,
            "datareporting.policy.dataSubmissionEnabled": False,
            "dom.push.connection.enabled": False,
            "dom.security.https_first": False,
            "network.captive-portal-service.enabled": False,
            "network.connectivity-service.enabled": False,
            "network.http.http3.enable": bool(self._firefox_h3),
            **self._firefox_h3,
            "network.lna.blocking": False,
            "network.lna.enabled": False,
            "network.proxy.type": 0,  # not a proxy that the environment names
            "network.trr.mode": 5,
            "security.OCSP.enabled": 0,
            "services.settings.server": "http://127.0.0.1:1",
        }
        forced = [f"{port}={_endpoint(address)[1]}"
                  for port, address in ((80, self.http), (443, self.https)) if address]
        if forced:
            preferences["network.dns.forceResolve"] = _endpoint(self.https or self.http)[0]
            preferences["network.socket.forcePort"] = ";".join(forced)
        elif self.proxy:
            host, port = _endpoint(self.proxy)
            preferences.update({
                "network.proxy.type": 1,
                "network.proxy.http": host,
                "network.proxy.http_port": port,
                "network.proxy.ssl": host,
                "network.proxy.ssl_port": port,
                "network.proxy.allow_hijacking_localhost": True,
                "network.proxy.no_proxies_on": "",
            })
        return preferences

    def stop(self):
        """Ends reprise and sets `exit_code` and `report`."""
        if self._run is not None:
            self.exit_code, self.report = self._run.stop()
            self._run = None


def _endpoint(address):
    """Where a browser reaches a listener; at a wildcard address, over loopback."""
    host, port = address.rsplit(":", 1)
    host = host.strip("[]")
    return "127.0.0.1" if host in ("0.0.0.0", "::") else host, int(port)


class _Run:
    """The process. It ends when its standard input does: also when this process is killed. It
    prints its addresses as one line, and the report of a replay as another."""

    def __init__(self, mode, archive, arguments, program):
        outputs = ["--ready-file", "-"]
        if mode == "replay":
            outputs += ["--report", "-"]
        target = [archive] if mode == "replay" else ["-o", archive]
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [program, mode, *outputs, *arguments, *map(os.fspath, target), "--", "cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, encoding="utf-8")

    def ready(self):
        """What reprise prints once it accepts connections."""
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        exit_code, _ = self.stop()
        self._log.seek(0)
        said = self._log.read().decode(errors="replace")
        raise RuntimeError(f"reprise ended with exit status {exit_code}: {said}")

    def stop(self):
        report, _ = self._process.communicate()
        return self._process.returncode, json.loads(report) if report else None


def _start(mode, archive, arguments, program):
    run = _Run(mode, archive, arguments, program or os.environ.get("REPRISE", "reprise"))
    ready = run.ready()
    if ready["http"] or ready["https"] or ready["proxy"]:
        return Session(ready, run)
    run.stop()
    raise RuntimeError(_UNREACHABLE)  # a browser would load the live site


def replay(archive, *arguments, program=None):
    """Serves from `archive`. `arguments`: more of `reprise replay`, such as "--strict". Raises
    RuntimeError if browsers cannot reach it, such as behind a packet link."""
    return _start("replay", archive, arguments, program)


def record(archive, *arguments, program=None):
    """Records into `archive`, which must not exist. Raises as replay() does."""
    return _start("record", archive, arguments, program)


def from_environment(environment=None):
    """The reprise that runs this process as its `-- COMMAND`, or None."""
    environment = os.environ if environment is None else environment
    flags = environment.get("REPRISE_CHROMIUM_FLAGS_JSON")
    if not flags:
        return None
    return Session({"chromium_flags": json.loads(flags), "ca_file": environment["REPRISE_CA"],
                    **{name: environment.get(f"REPRISE_{name.upper()}")
                       for name in ("http", "https", "proxy", "dns", "script")}})
