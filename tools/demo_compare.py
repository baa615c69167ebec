#!/usr/bin/env python3
"""Compares page loads from an archive with the loads that were recorded into it.

usage: demo_compare.py LIVE.json REPLAY.json      (results as pageload/results/RESULTS.md describes)

Equal means, page by page: the same multiset of (method, URL, status), the same digest of each
body, and the same digest of the document. Requests that the browser answered from its own cache
are not compared: whether it requests an icon of the page again depends on a race in the browser.
Nor are loads that warmed up.
Prints a table; exit 0 if all are equal, otherwise 1.
"""

import collections
import json
import sys
from urllib.parse import urlsplit

SHOWN_MAX = 10


def loads_by_page(path):
    pages = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for load in json.load(file)["loads"]:
            if not load["warm_up"]:
                pages[load["url"]].append(load)
    return pages


def sent(load):
    return [each for each in load["requests"] if not each["from_cache"]]


def requests_of(load):
    return collections.Counter((each["method"], each["url"], each["status"])
                               for each in sent(load))


def bodies_of(load):
    return collections.Counter((each["url"], each["body_sha256"]) for each in sent(load))


def short(digest):
    return (digest or "none")[:12]


def differences(live, replayed):
    """The differences, one sentence each."""
    for name, load in (("recording", live), ("replay", replayed)):
        if load["outcome"] != "loaded":
            yield f"the {name} ended as '{load['outcome']}': {load.get('failure', '')}"
    asked, answered = requests_of(live), requests_of(replayed)
    for method, url, status in asked - answered:
        yield f"only in the recording: {method} {url} -> {status}"
    for method, url, status in answered - asked:
        yield f"only in the replay: {method} {url} -> {status}"
    if asked == answered:
        for url, digest in bodies_of(live) - bodies_of(replayed):
            yield f"different body: {url} (recorded {short(digest)})"
    if live["dom_sha256"] != replayed["dom_sha256"]:
        yield (f"different document: {short(live['dom_sha256'])} became "
               f"{short(replayed['dom_sha256'])}")


def row(name, loads):
    requests = [each for load in loads for each in sent(load)]
    hosts = {urlsplit(each["url"]).hostname for each in requests}
    bodies = sum(1 for each in requests if each["body_sha256"])
    documents = short(loads[0]["dom_sha256"]) if len(loads) == 1 else f"{len(loads)} documents"
    return (f"  {name:<10}{len(requests):>9}{bodies:>8}{len(hosts):>7}{load_time(loads):>11.1f} ms"
            f"  {documents:<13}")


def load_time(loads):
    """Milliseconds to the load event, summed over all pages."""
    return sum(load["load_event_ms"] or 0 for load in loads)


def spread(times):
    """The difference between loads of the same pages, as text for users."""
    middle = sum(times) / len(times)
    return f"{100 * (max(times) - min(times)) / middle:.2f} %" if middle else "nothing"


def main():
    live, replayed = (loads_by_page(path) for path in sys.argv[1:3])
    runs = max((len(loads) for loads in replayed.values()), default=0)
    print(f"  {'':<10}{'requests':>9}{'bodies':>8}{'hosts':>7}{'load event':>14}  document")
    print(row("recorded", [loads[0] for loads in live.values()]))
    problems = []
    if runs == 0 or live.keys() != replayed.keys():
        problems.append("the replay did not load the pages that were recorded")
    for run in range(runs):
        loads = {url: each[run] for url, each in replayed.items() if run < len(each)}
        found = [f"{url}: {text}" for url, load in loads.items() if url in live
                 for text in differences(live[url][0], load)]
        verdict = "equal" if not found else f"{len(found)} difference{'s' * (len(found) > 1)}"
        print(f"{row(f'replay {run + 1}', list(loads.values()))} {verdict}")
        problems += found
    if runs > 1:
        times = [load_time([each[run] for each in replayed.values() if run < len(each)])
                 for run in range(runs)]
        print(f"  load times of the replays: {spread(times)} apart")
    for text in problems[:SHOWN_MAX]:
        print(f"  - {text}")
    if len(problems) > SHOWN_MAX:
        print(f"  - and {len(problems) - SHOWN_MAX} more")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
