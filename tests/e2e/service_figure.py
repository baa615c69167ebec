#!/usr/bin/env python3
"""A service predicted, then deployed and measured: Node with OpenTelemetry, PostgreSQL and
Redis, six scenarios as `reprise predict-service` takes them, 1,000 requests a side
(SERVICE_REQUESTS).

The profile of the database is measured first, by its queries alone, under each condition. Measured
are the times that a client waits for. The distance of two distributions is vertical, at the pooled
sample points: its median, and its maximum (Kolmogorov-Smirnov's D). Beside it are the floor, the
unchanged service measured twice, and the predictor that says that nothing changes.

A table for people goes to stdout, then the figures."""

import bisect
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import socketserver
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import figure
import harness
import npm_packages
import spans_test

REQUESTS = int(os.environ.get("SERVICE_REQUESTS", "1000"))
PROFILE_REQUESTS = int(os.environ.get("SERVICE_PROFILE_REQUESTS", "1000"))
ARTICLES = 100_000
ROWS = 2000
FAR_MS = 15
WARM = 20  # requests of each user that do not count
TIMEOUT_SECONDS = 120


class Far(socketserver.ThreadingTCPServer):
    """Another location: bytes arrive FAR_MS later, in both directions half of it."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, path):
        self.path = path
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

    @staticmethod
    def carry(source, target):
        source_ends = False
        while not source_ends:
            data = source.recv(1 << 16)
            source_ends = not data
            time.sleep(FAR_MS / 2 / 1000)
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
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.run(spans_test.PROGRAMS["redis-server"], "--port", str(port), "--save", "",
                 ready="ready to accept")
        return port

    def far_database(self):
        """The port of the database in another location."""
        far = Far(f"{self.database}/.s.PGSQL.5432")
        threading.Thread(target=far.serve_forever, daemon=True).start()
        self.ends.callback(far.shutdown)
        return far.server_address[1]

    def start_service(self, spans, **changes):
        environment = {**os.environ, "SPANS": str(spans), "DATABASE": self.database,
                       "PGUSER": "shop", "CACHE_PORT": str(self.cache_port), "ROWS": str(ROWS),
                       "NODE_PATH": str(self.packages), **changes}
        line, process = self.run(spans_test.PROGRAMS["node"], str(spans_test.SHOP / "service.cjs"),
                                 ready="", env=environment)
        return int(line), process


def ask(port, path, connection=None):
    connection = connection or http.client.HTTPConnection("127.0.0.1", port,
                                                          timeout=TIMEOUT_SECONDS)
    began = time.perf_counter()
    connection.request("GET", path)
    connection.getresponse().read()
    return (time.perf_counter() - began) * 1000


def use(ports, path, requests, users):
    """What each of so many users, one request after the other, waits for, in ms."""
    def one(number):
        connection = http.client.HTTPConnection("127.0.0.1", ports[number % len(ports)],
                                                timeout=TIMEOUT_SECONDS)
        return [ask(None, path, connection) for _ in range(-(-requests // users))]
    with concurrent.futures.ThreadPoolExecutor(users) as pool:
        return [each for times in pool.map(one, range(users)) for each in times]


@contextlib.contextmanager
def using(deployment, users):
    """So many other users of the database, until the end."""
    port, process = deployment.start_service(os.devnull)
    done = threading.Event()

    def ask_again():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
        while not done.is_set():
            ask(None, "/database", connection)
    with concurrent.futures.ThreadPoolExecutor(users) as pool:
        asked = [pool.submit(ask_again) for _ in range(users)]
        try:
            yield
        finally:
            done.set()
        for each in asked:
            each.result()
    process.terminate()
    process.wait(TIMEOUT_SECONDS)


class Measurement:
    """Client times, and the spans."""

    def __init__(self, deployment, name, requests=REQUESTS, users=1, replicas=1,
                 path="/article", others=0, **changes):
        self.spans = []
        ports, processes = [], []
        for replica in range(replicas):
            self.spans.append(deployment.folder / f"{name}{replica}.json")
            port, process = deployment.start_service(self.spans[-1], **changes)
            ports.append(port)
            processes.append(process)
        use(ports, path, WARM * users, users)
        self.write(ports)
        for file in self.spans:
            file.unlink()
        with contextlib.ExitStack() as beside:
            if others:
                beside.enter_context(using(deployment, others))
            self.times = use(ports, path, requests, users)
        self.write(ports)
        for process in processes:
            process.terminate()
            process.wait(TIMEOUT_SECONDS)

    @staticmethod
    def write(ports):
        """The spans to their files."""
        for port in ports:
            ask(port, "/written")


def predict(*arguments):
    done = harness.run("predict-service", *map(str, arguments), timeout=TIMEOUT_SECONDS)
    assert done.returncode == 0, done.stderr.decode()
    return done


def distance(a, b):
    """Median and maximum of the vertical distance at the pooled sample points."""
    a, b = sorted(a), sorted(b)
    gaps = [abs(bisect.bisect_right(a, x) / len(a) - bisect.bisect_right(b, x) / len(b))
            for x in a + b]
    return statistics.median(gaps), max(gaps)


def main(folder):
    deployment = Deployment(folder)
    with deployment.ends:
        far = str(deployment.far_database())
        # A lower tier of the database reads without its index.
        slow_tier = {"PGOPTIONS": "-c enable_indexscan=off -c enable_bitmapscan=off "
                                  "-c enable_indexonlyscan=off"}
        profile = folder / "profile.json"
        usual = {"tier": "indexed", "location": "here", "size": str(ROWS), "concurrency": "1"}

        def learn(name, users=1, conditions=None, **changes):
            made = Measurement(deployment, f"profile-{name}", PROFILE_REQUESTS, users,
                               path="/database", **changes)
            told = ",".join(f"{key}={value}" for key, value in
                            {**usual, **(conditions or {})}.items())
            predict(*made.spans, "--conditions", told, "--add-to-profile", profile)

        learn("usual")
        learn("tier", conditions={"tier": "scanned"}, **slow_tier)
        learn("location", conditions={"location": "far"}, DATABASE="127.0.0.1", DATABASE_PORT=far)
        learn("size", conditions={"size": str(4 * ROWS)}, ROWS=str(4 * ROWS))
        for users in (2, 4, 8):
            learn(f"users{users}", users, {"concurrency": str(users)})

        base = Measurement(deployment, "base")
        again = Measurement(deployment, "again")
        two = Measurement(deployment, "two", users=4, replicas=2)
        database = "postgresql: "
        scenarios = [
            ("another tier", base, database + "tier=scanned", slow_tier, {}),
            ("another location", base, database + "location=far",
             {"DATABASE": "127.0.0.1", "DATABASE_PORT": far}, {}),
            ("another size", base, database + f"size={4 * ROWS}", {"ROWS": str(4 * ROWS)}, {}),
            ("contention", base, database + "concurrency=4", {}, {"others": 3}),
            ("8 users at once", base, "service: users=8", {}, {"users": 8}),
            ("a replica lost", two, "service: lost=1/2", {}, {"users": 4})]
        rows, ours = [], []
        for name, before, scenario, changes, load in scenarios:
            think = folder / "think.txt"
            predict(*before.spans, "--profile", profile, "--scenario", scenario, "-o", think)
            predicted = [float(line) for line in think.read_text().split()]
            measured = Measurement(deployment, name.replace(" ", "-"), **load, **changes)
            wrong = distance(predicted, measured.times)
            nothing = distance(before.times, measured.times)
            floor = distance(base.times, again.times)
            ours.append((wrong, nothing))
            rows.append((name, *(f"{statistics.median(each):.1f}" for each in
                                 (before.times, predicted, measured.times)),
                         *(f"{value:.3f}" for value in (*wrong, *nothing, *floor))))
            print(*rows[-1], file=sys.stderr, flush=True)
    figure.table(("scenario", "before, ms", "predicted", "measured", "distance", "D",
                  "if nothing changed", "D", "A against A", "D"), rows)
    figure.report("service_distance_median", statistics.median(wrong[0] for wrong, _ in ours),
                  "of the distribution", "< .07")
    figure.report("service_distance_worst", max(wrong[0] for wrong, _ in ours),
                  "of the distribution", None)
    figure.report("service_distance_beside_nothing",
                  statistics.median(wrong[0] / nothing[0] for wrong, nothing in ours),
                  "of that if nothing changed", "< .33")


if __name__ == "__main__":
    if spans_test.MISSING:
        print("skipped: not installed:", ", ".join(spans_test.MISSING))
        sys.exit(harness.SKIPPED)
    with tempfile.TemporaryDirectory(prefix="service") as made:
        main(pathlib.Path(made))
