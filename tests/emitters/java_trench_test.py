#!/usr/bin/env python3
"""What the Java emitter writes, read by analysis/trench: random trees, and a shop in Debian's
Spring 4.3 and Tomcat 9. Runs where tools/setup --java has been run."""

import http.client
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import java_shop

KEY = "0123456789abcdef"
ROUNDS = 500

http.client._MAXHEADERS = 1000


def read_traces(responses):
    """What analysis/trench makes of the fields of each of these responses."""
    given = "".join(json.dumps(values) + "\n" for values in responses)
    done = subprocess.run([os.environ["READ_TRENCH"]], input=given, capture_output=True, text=True,
                          check=True)
    return done.stdout.splitlines()


def shape_of(trace):
    """["Class.method hits", ...], each indented by its depth."""
    lines = []
    called = {child for row in trace["stack"] for child in row[3]}

    def add(place, depth):
        point, hits, _, children = trace["stack"][place]
        of, method, _ = trace["points"][point]
        lines.append(f"{' ' * depth}{trace['classes'][of][0]}.{method} {hits}")
        for child in children:
            add(child, depth + 1)

    for place in range(len(trace["stack"])):
        if place not in called:
            add(place, 0)
    return lines


class Shop:
    """shop/Shop.java, running."""

    def __init__(self, folder, **environment):
        self.process = subprocess.Popen(
            java_shop.command(folder), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **environment})
        port = self.process.stdout.readline()
        if not port:
            self.__exit__()
            raise AssertionError("the shop ended")
        self.port = int(port)

    def get(self, path, **headers):
        """Status, body, and the values of its trace fields."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path, headers=headers)
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


class JavaTrench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="reprise-java."))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        java_shop.compile_into(cls.folder)

    def java(self, *arguments):
        return subprocess.run(["java", "-cp", str(self.folder), *arguments], capture_output=True,
                              text=True)

    def test_random_trees_are_read_as_they_were(self):
        done = self.java("trench.RandomTraces", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(lines), 2 * ROUNDS)
        for answer, wanted in zip(read_traces(lines[::2]), lines[1::2], strict=True):
            self.assertEqual(json.loads(answer)["stack"], wanted)

    def test_what_needs_no_server(self):
        done = self.java("trench.Checks")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_shop_in_spring_and_tomcat_sends_its_calls(self):
        with Shop(self.folder, BANKY_TRACE="on") as shop:
            status, body, values = shop.get("/cart")
            self.assertEqual((status, body), (200, "sum 17\n"))
            trace = json.loads(read_traces([values])[0])
            self.assertEqual(shape_of(trace), [
                "shop.Shop$CartPage.show 1", " shop.Shop$DatabaseCart.sum 1",
                "  shop.Shop$SlowDatabase.query 3", "  shop.Tax.of 1",
                "   shop.Shop$SlowDatabase.query 1", " shop.Shop$SlowDatabase.query 1"])
            times = {shape.split()[0]: row[2]
                     for shape, row in zip(shape_of(trace), trace["stack"])}
            self.assertGreaterEqual(times["shop.Tax.of"], 20)
            lines = {method: line for _, method, line in trace["points"]}
            self.assertEqual(lines["show"], -1)
            self.assertGreater(lines["of"], 0)

            # More than Tomcat's buffer: only the advice is early enough.
            status, body, values = shop.get("/cart?pages=10000")
            self.assertGreater(len(body), 50_000)
            self.assertEqual(shape_of(json.loads(read_traces([values])[0]))[0],
                             "shop.Shop$CartPage.show 1")
            self.assertEqual(shop.get("/plain")[1], "plain")
            self.assertIn(" shop.Plain.write 1",
                          shape_of(json.loads(read_traces([shop.get("/plain")[2]])[0])))
            status, _, values = shop.get("/broken")
            self.assertEqual(status, 500)
            self.assertEqual(shape_of(json.loads(read_traces([values])[0])),
                             ["shop.Shop$CartPage.broken 1"])

            values = shop.get("/many")[2]
            self.assertEqual(len(values), 1)
            self.assertTrue(values[0].startswith("url=/banky-trace/"), values)
            status, body, _ = shop.get(values[0][len("url="):])
            self.assertEqual((status, len(json.loads(body)["stack"])), (200, 401))
            self.assertEqual(shop.get("/banky-trace/" + "0" * 32)[0], 404)

    def test_a_long_trace_is_in_the_context_of_its_application(self):
        with Shop(self.folder, BANKY_TRACE="on", SHOP_CONTEXT="/shop") as shop:
            values = shop.get("/shop/many")[2]
            self.assertEqual(len(values), 1)
            self.assertRegex(values[0], "^url=/shop/banky-trace/[0-9a-f]{32}$")
            status, body, _ = shop.get(values[0][len("url="):])
            self.assertEqual((status, len(json.loads(body)["stack"])), (200, 401))

    def test_a_shop_traces_only_who_has_the_key(self):
        with Shop(self.folder, BANKY_TRACE=f"ask:{KEY}", SPRING_PROFILES_ACTIVE="prod") as shop:
            self.assertEqual(shop.get("/cart")[2], [])
            self.assertGreater(len(shop.get("/cart", **{"Banky-Trace": KEY})[2]), 1)
            self.assertEqual(shop.get("/cart", **{"Banky-Trace": KEY + "0"})[2], [])

    def test_a_shop_traces_nothing_in_production_without_a_key(self):
        with Shop(self.folder, BANKY_TRACE="on", SPRING_PROFILES_ACTIVE="production") as shop:
            self.assertEqual(shop.get("/cart", **{"Banky-Trace": "on"})[2], [])


if __name__ == "__main__":
    if not java_shop.can_run():
        print(f"skipped: {java_shop.NEEDS}")
        sys.exit(77)
    unittest.main()
