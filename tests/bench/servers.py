"""The servers that are measured: a replay, and the peers, each with as many threads (nginx:
workers), the same objects and a P-256 certificate, on the core that it is given."""

import contextlib
import dataclasses
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import harness
import processes
from wire import Certificate, DEADLINE_SECONDS

OBJECTS = {"1k": 1024, "10k": 10 * 1024, "100k": 100 * 1024}  # bytes, incompressible
H1_HOST = "h1.bench.test"
H2_HOST = "h2.bench.test"
H3_HOST = "localhost"  # gtlsclient resolves it itself, and sends it
# Names that the recording has, too, for connections that each show another one. As many as a replay
# prepares certificates for: behind everything else, so it takes long beside other programs.
FRESH_SETS, FRESH_NAMES = 5, 800


def fresh_prefix(number):
    """tls_connect_load makes PREFIX0.fresh.test and so on of it."""
    return f"n{number % FRESH_SETS}-"

NGINX_CONFIG = """
daemon off; worker_processes {threads}; error_log {folder}/error.log; pid {folder}/pid; {user}
worker_rlimit_nofile 4096;
events {{ worker_connections 2048; }}
http {{
  access_log off; sendfile on; tcp_nopush on; tcp_nodelay on;
  open_file_cache max=100; open_file_cache_valid 1h;
  keepalive_requests 1000000000; keepalive_timeout 1h; http2_max_concurrent_streams 128;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  default_type application/octet-stream; root {objects};
  ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_protocols TLSv1.3;
  server {{ listen 127.0.0.1:{clear}; }}
  server {{ listen 127.0.0.1:{h1} ssl; }}
  server {{ listen 127.0.0.1:{h2} ssl http2; }}
}}
"""

H2O_CONFIG = """
num-threads: {threads}
pid-file: {folder}/pid
error-log: {folder}/error.log
{user}
tcp-fastopen: 0
ssl-session-resumption: {{mode: all}}
listen: {{host: 127.0.0.1, port: {clear}}}
listen:
  host: 127.0.0.1
  port: {h1}
  ssl:
    certificate-file: {certificate}
    key-file: {key}
    neverbleed: OFF
    ocsp-update-interval: 0
hosts:
  default:
    paths:
      "/": {{file.dir: {objects}}}
"""


CADDY_CONFIG = """
{{
  admin off
  auto_https disable_redirects
  storage file_system {folder}
  grace_period 1s
}}
https://{host}:{h3} {{
  bind 127.0.0.1
  tls {certificate} {key}
  root * {objects}
  file_server
}}
"""


class Bench:
    """What all servers of a run share: a folder, the objects, a certificate, two cores (None: those
    that the system chooses). `quick`: its figures mean nothing."""

    def __init__(self, folder, server_core, load_core, quick=False):
        self.folder = folder
        self.server_core = server_core
        self.load_core = load_core
        self.quick = quick
        self.objects = folder / "objects"
        self.objects.mkdir(mode=0o755)
        for name, size in OBJECTS.items():
            (self.objects / name).write_bytes(os.urandom(size))
        self.certificate = Certificate(folder / "tls", (H1_HOST, H2_HOST, H3_HOST))

    def on_server_core(self):
        return self._on(self.server_core)

    def on_load_core(self):
        return self._on(self.load_core)

    def behind_the_server(self):
        """On its core, whenever it waits. Beside other programs that may be never: a quick run
        only shares the core."""
        idle = [] if self.quick else ["chrt", "--idle", "0"]
        return [*self.on_server_core(), *idle]

    @staticmethod
    def _on(core):
        return [] if core is None else ["taskset", "-c", str(core)]


class Peer:
    """A process that serves the objects until it is closed, run by `wrapper`. `ports` has the keys
    "clear", "h1" and "h2" (over TLS), and "h3", as far as it speaks them."""

    runs_in_valgrind = True

    def __init__(self, bench, name, protocols, threads, wrapper):
        self.name = name
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}.", dir=bench.folder))
        self.folder.chmod(0o755)
        addresses = len(protocols) * [harness.LOOPBACK]
        self.ports = dict(zip(protocols, harness.free_ports(*addresses)))
        self.leaf = bench.certificate.leaf_file
        self.values = {"folder": self.folder, "objects": bench.objects, "certificate": self.leaf,
                       "key": self.leaf.with_suffix(".key"), "threads": threads, **self.ports}
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [*bench.on_server_core(), *wrapper, *self.command(bench)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.pid = self.process.pid
        self.wait_until_listening()

    def wait_until_listening(self):
        for port in self.ports.values():
            for _ in range(DEADLINE_SECONDS * 100):
                if self.listens(port):
                    break
                if self.ended_within(0.01):
                    raise AssertionError(f"{self.name} did not start: {self.log()}")
            else:
                raise AssertionError(f"{self.name} does not listen on port {port}: {self.log()}")

    @staticmethod
    def listens(port):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return True
        except ConnectionRefusedError:
            return False

    def ended_within(self, seconds):
        try:
            self.process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    def log(self):
        return "".join(path.read_text(errors="replace") for path in self.folder.glob("*log"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(DEADLINE_SECONDS)


class Nginx(Peer):
    program = "/usr/sbin/nginx"

    def __init__(self, bench, name="nginx", threads=1, wrapper=()):
        super().__init__(bench, name, ("clear", "h1", "h2"), threads, wrapper)

    def command(self, _):
        config = self.folder / "nginx.conf"
        user = "user root;" if os.geteuid() == 0 else ""
        config.write_text(NGINX_CONFIG.format(user=user, **self.values))
        return [self.program, "-e", self.folder / "error.log", "-c", config]


class H2o(Peer):
    program = "/usr/bin/h2o"

    def __init__(self, bench, threads=1, wrapper=()):
        super().__init__(bench, "h2o", ("clear", "h1"), threads, wrapper)
        self.ports["h2"] = self.ports["h1"]  # the client's ALPN decides

    def command(self, _):
        config = self.folder / "h2o.conf"
        user = "user: root" if os.geteuid() == 0 else ""
        config.write_text(H2O_CONFIG.format(user=user, **self.values))
        return [self.program, "-c", config]


class Nghttpd(Peer):
    program = "/usr/sbin/nghttpd"

    def __init__(self, bench, threads=1, wrapper=()):
        super().__init__(bench, "nghttpd", ("h2",), threads, wrapper)

    def command(self, bench):
        return [self.program, "-n", str(self.values["threads"]), "-a", "127.0.0.1", "-d",
                bench.objects, str(self.ports["h2"]), self.values["key"], self.leaf]


class QuicPeer(Peer):
    def __init__(self, bench, name, threads, wrapper):
        super().__init__(bench, name, ("h3",), threads, wrapper)

    @staticmethod
    def listens(port):
        """Whether the port is taken: nothing answers a first datagram of ours."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            try:
                taken.bind(("127.0.0.1", port))
                return False
            except OSError:
                return True


class Gtlsserver(QuicPeer):
    """The libraries that a replay uses, in the server that comes with them. It permits as many
    streams at a time as a replay: with fewer, less of its memory is cold."""

    program = "/usr/sbin/gtlsserver"

    def __init__(self, bench, threads=1, wrapper=()):
        super().__init__(bench, "gtlsserver", threads, wrapper)

    def command(self, bench):
        return [self.program, "-q", "--timeout=300s", "--max-streams-bidi=256", "-d",
                bench.objects, "127.0.0.1", str(self.ports["h3"]), self.values["key"], self.leaf]


class Caddy(QuicPeer):
    program = "/usr/bin/caddy"
    runs_in_valgrind = False

    def __init__(self, bench, threads=1, wrapper=()):
        super().__init__(bench, "caddy", threads, wrapper)

    def command(self, _):
        config = self.folder / "Caddyfile"
        config.write_text(CADDY_CONFIG.format(host=H3_HOST, **self.values))
        return ["env", f"GOMAXPROCS={self.values['threads']}", f"HOME={self.folder}", self.program,
                "run", "--config", config, "--adapter", "caddyfile"]


PEERS = {"nginx": Nginx, "h2o": H2o, "nghttpd": Nghttpd, "gtlsserver": Gtlsserver, "caddy": Caddy}


def record(bench):
    """Records the objects as an nginx serves them, in the clear, over TLS and over h2."""
    archive = bench.folder / "objects.reprise"
    arguments = ["-o", str(archive), "--origin-ca", str(bench.certificate.ca_file)]
    with Nginx(bench, "origin") as origin:
        for host, port, protocol in ((H1_HOST, 80, "clear"), (H1_HOST, 443, "h1"),
                                     (H2_HOST, 443, "h2"), (H3_HOST, 443, "h2")):
            arguments += ["--connect-to", f"{host}:{port}:127.0.0.1:{origin.ports[protocol]}"]
        with ended_in_order(harness.Reprise(bench.folder, "record", *arguments)) as recorder:
            for name in OBJECTS:
                for scheme, host in (("http", H1_HOST), ("https", H1_HOST), ("https", H2_HOST),
                                     ("https", H3_HOST)):
                    fetch(bench, recorder, scheme, host, name)
    return archive


def with_fresh_names(bench, archive, sets=FRESH_SETS, names_of_a_set=FRESH_NAMES):
    """A copy of `archive` that has one exchange of each fresh name."""
    har, names, both = (bench.folder / name for name in ("names.har", "names.reprise",
                                                         "both.reprise"))
    write_har(har, [f"https://{fresh_prefix(number)}{i}.fresh.test/"
                    for number in range(sets) for i in range(names_of_a_set)])
    for arguments in (("import", har, "-o", names),
                      ("merge", archive, names, "--sessions", "one", "-o", both)):
        done = harness.run("archive", *map(str, arguments))
        if done.returncode:
            raise AssertionError(done.stderr.decode())
    return both


def write_har(path, urls):
    """Empty answers from each of `urls`."""
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": [{
        "startedDateTime": "2026-11-21T00:00:00Z", "time": 1, "timings": {},
        "request": {"method": "GET", "url": url, "headers": [], "httpVersion": "HTTP/1.1"},
        "response": {"status": 204, "statusText": "No Content", "httpVersion": "HTTP/1.1",
                     "headers": [], "content": {"text": ""}}} for url in urls]}}))


def fetch(bench, recorder, scheme, host, name):
    got = bench.folder / "got"
    subprocess.run(["curl", "-sSf", "--max-time", str(DEADLINE_SECONDS), "--cacert",
                    recorder.ca_file, "--connect-to", "::" + recorder.ready[scheme], "-o", got,
                    f"{scheme}://{host}/{name}"], check=True)
    if got.read_bytes() != (bench.objects / name).read_bytes():
        raise AssertionError(f"{scheme}://{host}/{name} came back changed")


@contextlib.contextmanager
def ended_in_order(reprise):
    """Stops it at the end of a block that went well, which it must survive with exit 0."""
    try:
        yield reprise
        if reprise.stop() != 0:
            raise AssertionError(f"reprise failed:\n{reprise.log()}")
    finally:
        reprise.kill()


@dataclasses.dataclass
class Replay:
    """Our server, with what a Peer has."""

    pid: int
    ports: dict
    log: Callable[[], str]
    name: str = "reprise"


@contextlib.contextmanager
def replay(bench, archive, wrapper=(), threads=1, over_quic=False):
    """A Replay that runs. `wrapper` is a command that it is run by, such as valgrind. `over_quic`:
    it serves HTTP/3 instead."""
    protocol = ["--protocol", "h3"] if over_quic else []
    reprise = harness.Reprise(bench.folder, "replay", "--inject", "none", "--dates", "recorded",
                              "--threads", str(threads), *protocol, str(archive),
                              wrapper=[*bench.on_server_core(), *wrapper])
    with ended_in_order(reprise):
        clear, tls = reprise.address("http")[1], reprise.address("https")[1]
        processes.wait_until_idle(reprise.pid)  # it prepares certificates
        ports = {"h3": tls} if over_quic else {"clear": clear, "h1": tls, "h2": tls}
        yield Replay(reprise.pid, ports, reprise.log)
