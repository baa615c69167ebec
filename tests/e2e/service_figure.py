#!/usr/bin/env python3
"""A service predicted, then deployed and measured: Node with OpenTelemetry, PostgreSQL and
Redis, six scenarios as `reprise predict-service` takes them, 1,000 requests a side
(SERVICE_REQUESTS).

The profile of the database is measured by its queries alone, under each condition. Measured are the
times that a client waits for; all conditions in turn. The distance of two distributions is
vertical, at the pooled sample points: its median, and its maximum (Kolmogorov-Smirnov's D). Beside
it are the floor, the unchanged service measured twice, and the predictor that says that nothing
changes.

A table for people goes to stdout, then the figures."""

import bisect
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import random
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
ROUNDS = 10
ARTICLES = 100_000
ROWS = 8000
OWN_MS = 4
FAR_MS = 15
WARM = 100  # requests of each user that do not count
TIMEOUT_SECONDS = 120
PROCESSORS = sorted(os.sched_getaffinity(0))


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
        [port] = harness.free_ports(harness.LOOPBACK)
        self.run(spans_test.PROGRAMS["redis-server"], "--port", str(port), "--save", "",
                 ready="ready to accept")
        return port

    def far_database(self):
        """The port of the database in another location."""
        far = Far(f"{self.database}/.s.PGSQL.5432")
        threading.Thread(target=far.serve_forever, daemon=True).start()
        self.ends.callback(far.shutdown)
        return far.server_address[1]

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


class Experiment:
    """All conditions, measured in turn: what a machine does in some minutes meets each of them."""

    def __init__(self, deployment):
        self.deployment = deployment
        self.made = {}

    def add(self, name, **condition):
        self.made[name] = Measurement(self.deployment, name.replace(" ", "-"), **condition)

    def run(self):
        order = random.Random(1)
        for number in range(ROUNDS):
            for each in order.sample(list(self.made.values()), len(self.made)):
                each.ask(-(-REQUESTS // ROUNDS))
            print(f"{number + 1} of {ROUNDS} rounds", file=sys.stderr, flush=True)
        for each in self.made.values():
            each.end()


def main(folder):
    # A service has the first processor for itself, unless it has several replicas.
    os.sched_setaffinity(0, {PROCESSORS[-1]})
    deployment = Deployment(folder)
    with deployment.ends:
        # A lower tier of the database reads without its index.
        slow_tier = {"PGOPTIONS": "-c enable_indexscan=off -c enable_bitmapscan=off "
                                  "-c enable_indexonlyscan=off"}
        far = {"DATABASE": "127.0.0.1", "DATABASE_PORT": str(deployment.far_database())}
        large = {"ROWS": str(4 * ROWS)}
        usual = {"tier": "indexed", "location": "here", "size": str(ROWS), "concurrency": "1"}
        profiles = [({}, {}), ({"tier": "scanned"}, slow_tier), ({"location": "far"}, far),
                    ({"size": large["ROWS"]}, large)]
        profiles += [({"concurrency": str(users)}, {"others": users - 1}) for users in (2, 4, 8)]
        database = "postgresql: "
        scenarios = [
            ("another tier", "base", database + "tier=scanned", slow_tier),
            ("another location", "base", database + "location=far", far),
            ("another size", "base", database + f"size={large['ROWS']}", large),
            ("contention", "base", database + "concurrency=4", {"others": 3}),
            ("8 users at once", "base", "service: users=8", {"users": 8}),
            ("a replica lost", "two", "service: users=2, lost=1/2", {"users": 4})]

        experiment = Experiment(deployment)
        for number, (_, condition) in enumerate(profiles):
            experiment.add(f"profile {number}", path="/database", **condition)
        experiment.add("base")
        experiment.add("again")
        experiment.add("two", users=4, replicas=2)
        for name, _, _, condition in scenarios:
            experiment.add(name, **condition)
        experiment.run()
        made = experiment.made

        profile = folder / "profile.json"
        for number, (changed, _) in enumerate(profiles):
            told = ",".join(f"{key}={value}" for key, value in {**usual, **changed}.items())
            predict(*made[f"profile {number}"].spans, "--conditions", told, "--add-to-profile",
                    profile)
        rows, ours = [], []
        for name, before, scenario, _ in scenarios:
            before, measured = made[before], made[name]
            think = folder / "think.txt"
            predict(*before.spans, "--profile", profile, "--scenario", scenario, "-o", think,
                    "--service-demand", before.service_demand_ms)
            predicted = [float(line) for line in think.read_text().split()]
            wrong = distance(predicted, measured.times)
            nothing = distance(before.times, measured.times)
            floor = distance(made["base"].times, made["again"].times)
            ours.append((wrong, nothing))
            rows.append((name, *(f"{statistics.median(each):.1f}" for each in
                                 (before.times, predicted, measured.times)),
                         *(f"{value:.3f}" for value in (*wrong, *nothing, *floor))))
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
