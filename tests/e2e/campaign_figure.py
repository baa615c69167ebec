#!/usr/bin/env python3
"""Figures of a campaign of 5,000 pages x 3 links x 20 loads whose results nobody measured: how long
planning, status and collecting take, and in how much memory. `campaign_figure.py [PAGES]`."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import campaigns
import figure
import harness

PAGES = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
REQUESTS = 20


def timed(*arguments):
    """Seconds, processor seconds, and the largest memory in MB of a command that must succeed."""
    began = time.monotonic()
    process = subprocess.Popen(["/usr/bin/python3", "-c", """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
sys.stderr.buffer.write(done.stderr)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(done.returncode)""", harness.REPRISE, "campaign", *map(str, arguments)],
                               stdout=subprocess.PIPE)
    output, _ = process.communicate()
    assert process.returncode == 0, arguments
    seconds, memory = output.split()
    return time.monotonic() - began, float(seconds), int(memory) / 1024


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="reprise-campaign."))
    try:
        corpus = folder / "corpus"
        corpus.mkdir()
        for page in range(PAGES):
            (corpus / f"p{page:05}.reprise").write_bytes(b"")
        file = folder / "campaign.json"
        file.write_text(json.dumps({
            "schema": "reprise-campaign/1", "name": "figure", "archives": ["corpus"],
            "links": ["none", "wpt:4g", "wpt:3g"], "loads": 20}))
        plan = folder / "plan"
        rows = [("plan", *timed("plan", file, "-o", plan))]
        campaigns.simulate(plan, lambda shard: f"n{shard % 100}",
                           lambda node, side, shard, run: 1000 + run, requests=REQUESTS)
        results = list((plan / "results").iterdir())
        megabytes = sum(path.stat().st_size for path in results) / 1e6
        rows.append(("status", *timed("status", plan)))
        rows.append(("collect", *timed("collect", plan, "-o", folder / "set")))
        print(f"{PAGES} pages, {len(results)} shards, {PAGES * 60} loads, {megabytes:.0f} MB")
        figure.table(("step", "seconds", "of a processor", "MB"),
                     [(step, f"{seconds:.1f}", f"{used:.1f}", f"{memory:.0f}")
                      for step, seconds, used, memory in rows])
        for step, seconds, used, memory in rows:
            figure.report(f"campaign_{step}_seconds", round(seconds, 2), "s", None)
            figure.report(f"campaign_{step}_processor", round(used, 2), "s",
                          "< 600" if step == "collect" else "< 10")
            figure.report(f"campaign_{step}_memory", round(memory), "MB", "< 500")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
