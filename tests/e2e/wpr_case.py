"""What the tests of `wpr` share: archives of Web Page Replay made here, and a running `wpr` as its
callers start it: under that name, with both outputs in one file that is read line by line."""

import base64
import contextlib
import gzip
import hashlib
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import tempfile

import harness
from wire import Client, DEADLINE_SECONDS

# As Telemetry reads it: the host holds no colon.
READY = re.compile(r".*Starting server on (?P<scheme>http|https)://(?P<host>[^:]*):(?P<port>\d+)")


def entry(url, answer, fields="", status="200 OK", version="1.1", method="GET", type="text/html"):
    """One exchange of a .wprgo."""
    host, path = url.split("://")[1].split("/", 1)
    request = f"{method} /{path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n"
    response = (f"HTTP/{version} {status}\r\nContent-Type: {type}\r\n"
                f"Content-Length: {len(answer)}\r\n\r\n").encode() + answer
    return {"SerializedRequest": base64.b64encode(request.encode()).decode(),
            "SerializedResponse": base64.b64encode(response).decode(), "LastServedSessionId": 0}


def write_wprgo(path, entries, seed_ms=1523318400000):
    """Writes a recording of (URL, entry) in their order."""
    requests = {}
    for url, each in entries:
        host = url.split("://")[1].split("/", 1)[0]
        requests.setdefault(host, {}).setdefault(url, []).append(each)
    archive = {"Requests": requests, "Certs": {}, "NegotiatedProtocol": {},
               "DeterministicTimeSeedMs": seed_ms}
    path.write_bytes(gzip.compress(json.dumps(archive).encode(), mtime=0))
    return path


def read_wprgo(path):
    """{URL: [(request, response), ...]} of a recording."""
    archive = json.loads(gzip.decompress(path.read_bytes()))
    return {url: [(base64.b64decode(each["SerializedRequest"]),
                   base64.b64decode(each["SerializedResponse"])) for each in entries]
            for urls in archive["Requests"].values() for url, entries in urls.items()}


class Wpr:
    """A running `wpr`, ready. `process` is it, or the script that started it; `log` gets both of
    its outputs, and exists."""

    def __init__(self, folder, log, process, servers=2):
        self.folder = folder
        self.log = log
        self.process = process
        self.ports = {}
        self._wait_until_ready(servers)

    @classmethod
    def started(cls, folder, *words, servers=2, ignore_sigint=False):
        log = pathlib.Path(tempfile.mktemp(dir=folder, prefix="wpr.", suffix=".log"))
        env = {**harness.environment(folder), "HOME": str(folder)}

        def prepare():
            # Shells start their background jobs so.
            signal.signal(signal.SIGINT, signal.SIG_IGN if ignore_sigint else signal.SIG_DFL)

        with open(log, "wb") as output:
            process = subprocess.Popen(
                [str(wpr_binary(folder)), *words], stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, env=env, cwd=folder, preexec_fn=prepare)
        return cls(folder, log, process, servers)

    def _wait_until_ready(self, servers):
        try:
            for _ in harness.watch_folder(self.folder, self.process.pid, harness.MODIFIED):
                for line in self.text().splitlines():
                    if found := READY.match(line.strip()):
                        self.ports[found["scheme"]] = int(found["port"])
                        self.host = found["host"]
                if len(self.ports) == servers:
                    return
                if self.process.poll() is not None:
                    raise AssertionError(
                        f"exit {self.process.returncode}, not ready:\n{self.text()}")
            raise AssertionError(f"not ready within {DEADLINE_SECONDS} s:\n{self.text()}")
        except BaseException:  # also of an interrupted test: nobody else ends it yet
            self.kill()
            raise

    def text(self):
        return self.log.read_text(errors="replace")

    def wait(self):
        return self.process.wait(timeout=DEADLINE_SECONDS)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def signal(self, number):
        self.process.send_signal(number)
        return self.wait()

    def connect(self, scheme="http", host=None, context=None, alpn=None):
        """A client connection; `host` is the SNI."""
        sock = socket.create_connection((self.host, self.ports[scheme]), DEADLINE_SECONDS)
        if scheme == "https":
            context = context or unverified(alpn)
            sock = context.wrap_socket(sock, server_hostname=host)
        return Client(sock)

    def get(self, url, headers=b"", method="GET"):
        """One request on its own connection, to where a browser's resolver rules lead."""
        scheme, rest = url.split("://")
        host, path = rest.split("/", 1)
        name = host.split(":")[0]
        with self.connect(scheme, None if name[0].isdigit() else name) as client:
            return client.get("/" + path, host=host, headers=headers, method=method)

    def command(self, path, scheme="http"):
        """As callers probe and command it; None if it closed without an answer."""
        host = f"127.0.0.1:{self.ports[scheme]}"
        with contextlib.suppress(EOFError):
            return self.get(f"{scheme}://{host}/{path}")
        return None


def unverified(alpn=None):
    """Chromium is led by the hash of a certificate, which does not look at names or keys."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    if alpn:
        context.set_alpn_protocols(alpn)
    return context


def wpr_binary(folder):
    """The binary under the name that callers know."""
    path = folder / "wpr"
    if not path.is_symlink():
        path.symlink_to(os.path.abspath(harness.REPRISE))
    return path


def make_root(folder, name, *kind, subject=None):
    """A root of that kind (arguments of openssl-req's -newkey): its certificate and key files."""
    certificate, key = folder / f"{name}_cert.pem", folder / f"{name}_key.pem"
    subprocess.run(["openssl", "req", "-x509", "-nodes", "-days", "2",
                    "-subj", subject or f"/CN={name}",
                    "-newkey", *kind, "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    return certificate, key


def spki_hash(certificate_pem):
    """What Chromium's --ignore-certificate-errors-spki-list has."""
    key = subprocess.run(["openssl", "x509", "-noout", "-pubkey"], input=certificate_pem,
                         check=True, capture_output=True).stdout
    der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=key, check=True,
                         capture_output=True).stdout
    return base64.b64encode(hashlib.sha256(der).digest()).decode()


def chain_hashes(wpr, host, signatures="ECDSA+SHA256:RSA-PSS+SHA256:RSA+SHA256"):
    """The hashes of the certificates that a client with these algorithms gets."""
    done = subprocess.run(
        ["openssl", "s_client", "-connect", f"{wpr.host}:{wpr.ports['https']}", "-servername", host,
         "-showcerts", "-sigalgs", signatures, "-cipher", "DEFAULT@SECLEVEL=0"],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE_SECONDS)
    found = re.findall(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", done.stdout,
                       re.DOTALL)
    return [spki_hash(each) for each in found]


class TestCase(harness.TestCase):
    def wpr(self, *words, **options):
        started = Wpr.started(self.folder, *map(str, words), **options)
        self.addCleanup(started.kill)
        return started

    def run_wpr(self, *words, name="wpr", **options):
        """Runs it to its end."""
        path = self.folder / name
        if not path.is_symlink():
            path.symlink_to(os.path.abspath(harness.REPRISE))
        env = {**harness.environment(self.folder), "HOME": str(self.folder),
               **options.pop("env", {})}
        return subprocess.run([str(path), *map(str, words)], capture_output=True,
                              timeout=DEADLINE_SECONDS, env=env, cwd=self.folder,
                              stdin=subprocess.DEVNULL, **options)
