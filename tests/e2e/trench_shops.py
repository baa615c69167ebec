"""Shops of three layers (web, services, store), one for each emitter, with a slow method planted in
each: see trench/shop.cc, trench/shop.cjs and ../emitters/java/shop/Shop.java."""

import os
import pathlib
import subprocess
import sys

import harness

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "emitters"))
import java_shop

CPP_SHOP = pathlib.Path(harness.REPRISE).parent / "trench_shop"
HOST = "shop.test"
# By emitter: the page that calls the slow method, and that method.
SLOW = {"cpp": ("/cart", "shop.Database.rates"),
        "java": ("/taxed", "shop.Shop$SlowDatabase.rates"),
        "node": ("/cart", "shop.Tax.rate")}
SLOW_MS = 600  # in all calls of the page: more than a browser takes on a busy machine


def missing(emitter):
    """What the shop needs and this machine lacks; empty: nothing."""
    return java_shop.NEEDS if emitter == "java" and not java_shop.can_run() else ""


def start(case, emitter="node", setting="on"):
    """Runs a shop until the end of the test; BANKY_TRACE is `setting`. Returns its port."""
    if emitter == "java":
        folder = case.folder / "java"
        folder.mkdir(exist_ok=True)
        java_shop.compile_into(folder)
        command = java_shop.command(folder)
    else:
        command = {"cpp": [CPP_SHOP], "node": ["node", HERE / "trench" / "shop.cjs"]}[emitter]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL,
                               env={**os.environ, "BANKY_TRACE": setting})

    def end():
        process.stdin.close()
        process.wait(harness.DEADLINE_SECONDS)
        process.stdout.close()
    case.addCleanup(end)
    return int(process.stdout.readline())
