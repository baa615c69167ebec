#!/usr/bin/env python3
"""Real spans: a shop with OpenTelemetry, PostgreSQL and Redis behind a page, recorded by a browser
with --traceparent. Every span is under its request, and `explain` names the slow query as what the
page's time goes to. Skipped where npm, PostgreSQL or Redis are missing."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness
import npm_packages

SHOP = pathlib.Path(__file__).resolve().parent / "spans"
HOST = "shop.test"


def program(name):
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(found[-1]) if found else None)


PROGRAMS = {name: program(name) for name in ("initdb", "postgres", "redis-server", "node", "npm")}
MISSING = [name for name, path in PROGRAMS.items() if path is None]


class Spans(harness.TestCase):
    def setUp(self):
        super().setUp()
        # Sockets' paths are short, and PostgreSQL's server is not for root.
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="shop"))
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        self.database_user = {}
        if os.geteuid() == 0:
            shutil.chown(self.home, "postgres")
            self.database_user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        self.spans = self.folder / "spans.json"

    def run_program(self, *command, ready="", **options):
        """A server that ends with the test. Returns its first line with `ready` in it."""
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, **options)
        self.addCleanup(process.wait, harness.DEADLINE_SECONDS)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.terminate)
        printed = ""
        for line in process.stdout:
            if ready in line.lower():
                return line
            printed += line
        raise AssertionError(f"{command} is not ready:\n{printed}")

    def start_shop(self):
        database = str(self.home / "database")
        subprocess.run([PROGRAMS["initdb"], "-D", database, "-A", "trust", "-U", "shop"],
                       check=True, capture_output=True, timeout=60, **self.database_user)
        self.run_program(PROGRAMS["postgres"], "-D", database, "-k", str(self.home), "-c",
                         "listen_addresses=", "-c", "fsync=off", ready="ready to accept",
                         **self.database_user)
        cache = str(self.home / "cache")
        self.run_program(PROGRAMS["redis-server"], "--port", "0", "--unixsocket", cache, "--save",
                         "", ready="ready to accept")
        environment = {**os.environ, "SPANS": str(self.spans), "DATABASE": str(self.home),
                       "PGUSER": "shop", "CACHE": cache,
                       "NODE_PATH": str(npm_packages.installed(SHOP))}
        return int(self.run_program(PROGRAMS["node"], str(SHOP / "shop.cjs"), env=environment))

    def explain(self, *arguments):
        done = harness.run("explain", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(done.stdout)

    def test_a_slow_query_is_what_the_page_waits_for(self):
        port = self.start_shop()
        archive = self.folder / "shop.reprise"
        done = subprocess.run(
            [harness.REPRISE, "record", "--traceparent", "-o", str(archive), "--connect-to",
             f"{HOST}:80:127.0.0.1:{port}", f"http://{HOST}/"],
            capture_output=True, text=True, stdin=subprocess.DEVNULL,
            timeout=4 * harness.DEADLINE_SECONDS, env=harness.environment(self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)

        calls_file = self.folder / "calls.ndjson"
        explained = self.explain(str(archive), str(self.spans), "--calls", str(calls_file))
        calls = json.loads(calls_file.read_text())["calls"]
        request_of = {}
        for place, call in enumerate(calls):
            if call["kind"] != "span":
                continue
            around = calls[call["parent"]]
            while around["kind"] != "request":
                around = calls[around["parent"]]
            request_of.setdefault(around["name"].split(HOST)[1], []).append(call["name"])
        self.assertEqual(request_of, {
            "/": ["GET /"], "/logo.svg": ["GET /logo.svg"],
            "/cart": ["GET /cart", "redis-GET", "redis-SET", "pg.query:SELECT postgres"]})
        heaviest = explained["slices"][0]["calls"][0]
        self.assertIn("pg.query:SELECT postgres", heaviest["name"])
        self.assertGreater(heaviest["us"], 300_000)

        # The connections that the shop opened at its start belong to no request.
        lost = [loss for loss in explained["losses"] if "belong to no request" in loss["what"]]
        self.assertEqual([loss["count"] for loss in lost], [2])

        alone = self.explain(str(self.spans), "--by", "endpoint")
        endpoints = {part["tags"]["endpoint"]: part for part in alone["slices"][1:]}
        self.assertIn("pg.query:SELECT postgres", endpoints["GET /cart"]["calls"][0]["name"])


if __name__ == "__main__":
    if MISSING:
        print("skipped: not installed:", ", ".join(MISSING))
        sys.exit(77)
    harness.main()
