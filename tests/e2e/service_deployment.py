"""What service_figure.py and service_page_figure.py share: a service with OpenTelemetry, PostgreSQL
and Redis that is really deployed, what its users wait for, and the distance of two distributions.
"""

import bisect
import concurrent.futures
import contextlib
import http.client
import json
import os
import random
import shutil
import socket
import socketserver
import statistics
import subprocess
import sys
import threading
import time

import harness
import npm_packages
import spans_test

ROUNDS = 10
ARTICLES = 100_000
ROWS = 8000
OWN_MS = 4
WARM = 100  # requests of each user that do not count
TIMEOUT_SECONDS = 120
PROCESSORS = sorted(os.sched_getaffinity(0))


class Far(socketserver.ThreadingTCPServer):
    """Another location: bytes arrive `ms` later, in both directions half of it."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, path, ms):
        self.path = path
        self.one_way_seconds = ms / 2 / 1000
        super().__init__(("127.0.0.1", 0), None)

    def finish_request(self, request, client_address):
        database = socket.socket(socket.AF_UNIX)
        database.connect(self.path)
        threads = [threading.Thread(target=self.carry, args=ends)
                   for ends in ((request, database), (database, request))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        database.close()

    def carry(self, source, target):
        source_ends = False
        while not source_ends:
            data = source.recv(1 << 16)
            source_ends = not data
            time.sleep(self.one_way_seconds)
            with contextlib.suppress(OSError):
                target.sendall(data) if data else target.shutdown(socket.SHUT_WR)


class Deployment:
    """PostgreSQL, Redis, and as many replicas of the service as are asked for."""

    def __init__(self, folder):
        self.folder = folder
        self.ends = contextlib.ExitStack()
        self.user = {}
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
            self.user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        self.services = 0
        self.database = self.start_database()
        self.cache_port = self.start_cache()
        self.packages = npm_packages.installed(spans_test.SHOP)

    def run(self, *command, ready, **options):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, **options)
        self.ends.callback(process.wait, TIMEOUT_SECONDS)
        self.ends.callback(process.terminate)
        for line in process.stdout:
            if ready in line.lower():
                threading.Thread(target=process.stdout.read, daemon=True).start()
                return line, process
        raise AssertionError(f"{command} is not ready")

    def start_database(self):
        data = str(self.folder / "database")
        programs = spans_test.PROGRAMS
        subprocess.run([programs["initdb"], "-D", data, "-A", "trust", "-U", "shop"], check=True,
                       capture_output=True, timeout=TIMEOUT_SECONDS, **self.user)
        self.run(programs["postgres"], "-D", data, "-k", str(self.folder), "-c",
                 "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=300", "-c",
                 "max_parallel_workers_per_gather=0", "-c", "autovacuum=off", "-c", "jit=off",
                 ready="ready to accept", **self.user)
        self.psql("CREATE TABLE articles AS SELECT id, 'article ' || md5(id::text) AS name, "
                  f"id * 7 % 1000 AS price FROM generate_series(1, {ARTICLES}) AS id; "
                  "CREATE INDEX ON articles (id)")
        self.psql("VACUUM ANALYZE articles")
        return str(self.folder)

    def psql(self, statement):
        subprocess.run(["psql", "-h", str(self.folder), "-U", "shop", "-q", "-d", "postgres", "-c",
                        statement], check=True, timeout=TIMEOUT_SECONDS)

    def start_cache(self):
        [port] = harness.free_ports(harness.LOOPBACK)
        self.run(spans_test.PROGRAMS["redis-server"], "--port", str(port), "--save", "",
                 ready="ready to accept")
        return port

    def far_database(self, ms):
        """What a service is started with to have the database in another location."""
        far = Far(f"{self.database}/.s.PGSQL.5432", ms)
        threading.Thread(target=far.serve_forever, daemon=True).start()
        self.ends.callback(far.shutdown)
        return {"DATABASE": "127.0.0.1", "DATABASE_PORT": str(far.server_address[1])}

    def start_service(self, spans, processor, **changes):
        environment = {**os.environ, "SPANS": str(spans), "DATABASE": self.database,
                       "PGUSER": "shop", "CACHE_PORT": str(self.cache_port), "ROWS": str(ROWS),
                       "OWN_MS": str(OWN_MS), "NODE_PATH": str(self.packages), **changes}
        line, process = self.run(spans_test.PROGRAMS["node"], str(spans_test.SHOP / "service.cjs"),
                                 ready="", env=environment)
        # The threads that it has by now, and all that they start.
        for thread in os.listdir(f"/proc/{process.pid}/task"):
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread), {processor})
        return int(line), process


class User:
    """One connection to a service."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS)
        self.answers = self.socket.makefile("rb")

    def ask(self, path):
        """The wait for the first byte, in ms, and the body: so short that nothing is measured but
        the service."""
        request = f"GET {path} HTTP/1.1\r\nHost: service\r\n\r\n".encode()
        began = time.perf_counter()
        self.socket.sendall(request)
        self.answers.peek(1)
        waited = (time.perf_counter() - began) * 1000
        assert self.answers.readline().split()[1] == b"200"
        headers = http.client.parse_headers(self.answers)
        return waited, self.answers.read(int(headers["Content-Length"]))


def use(ports, path, requests, users):
    """What each of so many users, one request after the other, waits for, in ms."""
    def one(number):
        user = User(ports[number % len(ports)])
        return [user.ask(path)[0] for _ in range(-(-requests // users))]
    with concurrent.futures.ThreadPoolExecutor(users) as pool:
        return [each for times in pool.map(one, range(users)) for each in times]


class Measurement:
    """One condition: its services, what clients waited for, and the spans. `others` are users of
    the database beside it."""

    def __init__(self, deployment, name, users=1, replicas=1, path="/article", others=0,
                 **changes):
        self.users, self.path, self.others = users, path, others
        self.spans = [deployment.folder / f"{name}{replica}.json" for replica in range(replicas)]
        self.services = [deployment.start_service(file, PROCESSORS[number % len(PROCESSORS)],
                                                  **changes)
                         for number, file in enumerate(self.spans)]
        self.ports = [port for port, _ in self.services]
        if others:
            self.services.append(deployment.start_service(os.devnull, PROCESSORS[-1]))
        self.times = []
        use(self.ports, path, WARM * users, users)
        self.write()
        for file in self.spans:
            file.unlink()

    def ask(self, requests):
        with self.using() if self.others else contextlib.nullcontext():
            self.times += use(self.ports, self.path, requests, self.users)

    @contextlib.contextmanager
    def using(self):
        """The other users, until the end."""
        done = threading.Event()

        def ask_again():
            user = User(self.services[-1][0])
            while not done.is_set():
                user.ask("/database")
        with concurrent.futures.ThreadPoolExecutor(self.others) as pool:
            asked = [pool.submit(ask_again) for _ in range(self.others)]
            try:
                yield
            finally:
                done.set()
            for each in asked:
                each.result()

    def write(self):
        """The spans to their files. Returns how long the services were busy since the last time, in
        ms."""
        return sum(json.loads(User(port).ask("/written")[1])["busy_ms"] for port in self.ports)

    def end(self):
        self.service_demand_ms = self.write() / len(self.times)
        for _, process in self.services:
            process.terminate()
            process.wait(TIMEOUT_SECONDS)


def predict_service(*arguments):
    done = harness.run("predict-service", *map(str, arguments), timeout=TIMEOUT_SECONDS)
    assert done.returncode == 0, done.stderr.decode()
    return done


def distance(a, b):
    """Median and maximum of the vertical distance at the pooled sample points."""
    a, b = sorted(a), sorted(b)
    gaps = [abs(bisect.bisect_right(a, x) / len(a) - bisect.bisect_right(b, x) / len(b))
            for x in a + b]
    return statistics.median(gaps), max(gaps)


class Experiment:
    """All conditions, measured in turn: what a machine does in some minutes meets each of them."""

    def __init__(self, deployment):
        self.deployment = deployment
        self.made = {}

    def add(self, name, **condition):
        self.made[name] = Measurement(self.deployment, name.replace(" ", "-"), **condition)

    def run(self, requests):
        """So many requests of each condition."""
        order = random.Random(1)
        for number in range(ROUNDS):
            for each in order.sample(list(self.made.values()), len(self.made)):
                each.ask(-(-requests // ROUNDS))
            print(f"{number + 1} of {ROUNDS} rounds", file=sys.stderr, flush=True)
        for each in self.made.values():
            each.end()
