#!/usr/bin/env python3
"""The Node emitter in Express and Fastify. Skipped where npm is missing."""

import http.client
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "e2e"))
import npm_packages

READ_TRENCH = os.environ.get("READ_TRENCH", str(HERE.parents[1] / "build/release/read_trench"))
http.client._MAXHEADERS = 1000


class Server:
    def __init__(self, framework, **environment):
        packages = npm_packages.installed(HERE / "frameworks")
        self.process = subprocess.Popen(
            ["node", str(HERE / "frameworks" / "server.cjs"), framework],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "NODE_PATH": str(packages), **environment})
        self.port = int(self.process.stdout.readline())

    def get(self, path):
        """Status, body, and the values of its trace fields."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        return response.status, body, response.headers.get_all("Banky-Trace", [])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


def methods_of(values):
    """The calls in the trace of these fields, as analysis/trench reads them: [(method, hits)]."""
    done = subprocess.run([READ_TRENCH], input=json.dumps(values) + "\n",
                          capture_output=True, text=True, check=True)
    trace = json.loads(done.stdout)
    return [(trace["points"][row[0]][1], row[1]) for row in trace["stack"]]


class Frameworks(unittest.TestCase):
    def check(self, framework):
        with Server(framework, BANKY_TRACE="on") as server:
            status, body, values = server.get("/page")
            self.assertEqual((status, json.loads(body)), (200, {"hello": "world"}))
            self.assertEqual(methods_of(values), [("show", 1), ("query", 2), ("render", 1)])
            status, _, values = server.get("/broken")
            self.assertEqual(status, 500)
            self.assertEqual(methods_of(values), [("fail", 1)])
            values = server.get("/many")[2]
            self.assertTrue(values[0].startswith("url=/banky-trace/"), values)
            status, body, _ = server.get(values[0][len("url="):])
            self.assertEqual((status, len(json.loads(body)["stack"])), (200, 400))
        with Server(framework) as server:
            self.assertEqual(server.get("/page"), (200, '{"hello":"world"}', []))

    def test_express(self):
        self.check("express")

    def test_fastify(self):
        self.check("fastify")


if __name__ == "__main__":
    if not shutil.which("npm"):
        print("skipped: needs npm")
        sys.exit(77)
    unittest.main()
