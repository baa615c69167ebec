#!/usr/bin/env python3
"""Predicted against measured: ten changes of pages over HTTP/2, each predicted and measured in one
interleaved experiment (`predict --measure`). Beside it the predictor that says that nothing
changes and, of the paints, what Lighthouse's simulation makes of the same traces, if it can express
the change.

A page of three hosts, that of the demonstration, pages of Debian's python3-doc (PREDICT_DOCS of
ten), with REPRISE_CORPUS also imported real ones; archives as arguments ("ARCHIVE URL") are
measured instead. PREDICT_PAGES, a regular expression, chooses among them. Each side has
PREDICT_RUNS loads; where these vary too much to tell what a change does, as many again, up to
PREDICT_RUNS_MAX. Pages are predicted from the loads that PREDICT_KEEP, a folder, has of earlier
runs. A table for people goes to stdout, then the figures."""

import dataclasses
import gzip
import json
import math
import mimetypes
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import demo_origin
import figure
import gate_sites
import harness
import npm_packages
import page_archives
from what_if_test import FILES, HOST, LATE, THIRD, URL, Recorded, png
from wire import Certificate, Origin, response

RUNS = int(os.environ.get("PREDICT_RUNS", 8))
RUNS_MAX = int(os.environ.get("PREDICT_RUNS_MAX", 2 * RUNS))
LINK = "9000/9000/60,queue=1000p"  # in which nothing is lost, as in the model
LANTERN_LINK = {"rtt_ms": 60, "kbps": 9000, "slowdown": 1}
VISUALS = pathlib.Path(__file__).resolve().parent / "visuals"
DOCS = pathlib.Path("/usr/share/doc/python3.11/html")
DOCS_HOST = "docs.test"
DOC_PAGES = ("index", "contents", "about", "bugs", "glossary", "license", "library/index",
             "library/functions", "tutorial/index", "reference/index")
TIMEOUT_SECONDS = 1800
BELOW = .05  # of the load: smaller effects are not judged by their own size


@dataclasses.dataclass(frozen=True)
class Page:
    name: str
    archive: pathlib.Path
    url: str
    thinks: str  # the filter of the host that thinks longer
    third: str  # the filter of a third party
    late: str = "type=font,style"  # what can be preloaded
    coding: str = "off"  # another one than that of the recording


@dataclasses.dataclass(frozen=True)
class Change:
    name: str
    arguments: tuple
    lantern: dict | None = None  # for lantern.mjs, if it can express the change


def enlarged():
    """The page of three hosts, with something for a slower link and processor to do."""
    for path, seed in (("/picture.png", 3), ("/below.png", 5), ("/back.png", 4)):
        FILES[HOST][path] = (b"image/png", png(seed, 700))
    FILES[LATE]["/late.png"] = (b"image/png", png(6, 700))
    work = b"\nfor (let end = performance.now() + 30, i = 0; i < 3e6; ++i) Math.sqrt(i + end);\n"
    words = b"/* " + gate_sites.words(7, 60_000) + b" */\n"
    FILES[HOST]["/app.js"] = (b"text/javascript", work + FILES[HOST]["/app.js"][1])
    FILES[THIRD]["/ad.js"] = (b"text/javascript", work + words + FILES[THIRD]["/ad.js"][1])
    FILES[HOST]["/style.css"] = (b"text/css", FILES[HOST]["/style.css"][1] + words)


def changes(page):
    texts = ("Document", "Script", "Stylesheet")
    yield Change("think time", ("--what-if", f"{page.thinks}: think=+200ms"),
                 {"think": (page.thinks, 200)})
    yield Change("round trip", ("--to-link", "9000/9000/160,queue=1000p"), {"rtt_ms": 160})
    yield Change("bandwidth", ("--to-link", "900/9000/60,queue=1000p"), {"kbps": 900})
    yield Change("third party", ("--what-if", f"{page.third}: drop"))
    yield Change("compression",
                 ("--what-if", f"type=script,style,html: compress={page.coding}"),
                 {"decoded": texts} if page.coding == "off" else None)
    yield Change("images halved", ("--what-if", "type=image: bytes=x0.5"), {"halved": ("Image",)})
    yield Change("h1", ("--to-protocol", "h1"))
    yield Change("processor", ("--to-cpu-throttle", "4"), {"slowdown": 4})
    yield Change("preload", ("--what-if", f"{page.late}: preload"))
    yield Change("defer", ("--what-if", "type=script: defer"))


class ThreeHosts(Recorded):
    """The recording of what_if_test.py, without its tests."""

    def runTest(self):
        pass


def real_pages(folder):
    for name, archive, url in page_archives.imported(folder):
        site = f".{url.split('/')[2].removeprefix('www.')}"
        stats = harness.run("archive", "stats", "--json", str(archive), folder=folder)
        assert stats.returncode == 0, stats.stderr.decode()
        if any(not f".{host}".endswith(site) for host in json.loads(stats.stdout)["hosts"]):
            yield Page(name, archive, url, f"!host={site}", f"!host={site}")
        else:  # as the pages of the documentation
            yield Page(name, archive, url, f"host={site}", "type=script")


def demonstration(folder):
    third = "host=api.larkspur.test"
    archive = page_archives.demonstration(folder)
    return Page("demonstration", archive, demo_origin.PAGE, third, third)


def documentation(request):
    path = DOCS / request.target.lstrip("/")
    if not path.is_file():
        return response(b"", b"404 Not Found")
    kind = mimetypes.guess_type(path.name)[0] or "text/plain"
    body, coding = path.read_bytes(), b""
    if kind.startswith("text/") or "script" in kind:
        body, coding = gzip.compress(body), b"Content-Encoding: gzip\r\n"
    return response(body, headers=f"Content-Type: {kind}\r\n".encode() + coding)


def documentation_pages(folder):
    """Their third party is their scripts: all is of one host."""
    names = DOC_PAGES[:int(os.environ.get("PREDICT_DOCS", len(DOC_PAGES)))]
    urls = [f"https://{DOCS_HOST}/{name}.html" for name in names if DOCS.exists()]
    if not urls:
        return
    archive = folder / "docs.reprise"
    if not archive.exists():
        origin = Origin(documentation, names=(DOCS_HOST,),
                        tls=Certificate(folder / "docs", (DOCS_HOST,)))
        done = harness.run("record", "-o", str(archive), "--browser", harness.BROWSER, "--inject",
                           "none", "--insecure-origin", *origin.connect_to(), *urls,
                           folder=folder, timeout=TIMEOUT_SECONDS)
        origin.close()
        assert done.returncode == 0, done.stderr.decode()
    for name, url in zip(names, urls):
        yield Page(f"docs: {name}", archive, url, f"host={DOCS_HOST}", "type=script")


def predicted(folder, page, change):
    """The report, with what Lighthouse says; or why there is none."""
    kept = folder / re.sub(r"\W+", "-", f"{page.name} {change.name}")
    report = predict(folder, page, change, kept)
    for batch in range(2, RUNS_MAX // RUNS + 1):
        if isinstance(report, str) or not is_uncertain(report):
            break
        more = kept.with_name(f"{kept.name}-{batch}")
        if (more / "joined").exists():
            continue
        other = predict(folder, page, change, more, batch)
        if isinstance(other, str):
            return other
        join_loads(kept, more)
        report = predict(folder, page, change, kept)
    if isinstance(report, str):
        return report
    says = kept / "lantern.json"
    if not says.exists():
        says.write_text(json.dumps(lantern(kept, page.url, change.lantern)))
    return {**report, "lantern": json.loads(says.read_text()), "touches": touches(kept, report)}


def predict(folder, page, change, kept, seed=1):
    """The report from the loads in `kept`, which are made if it has none; or why there is none."""
    loads = ("--loads", str(kept)) if (kept / "b.json").exists() else (
        "--runs", str(RUNS), "--timeout", "120", "-o", str(kept))
    done = harness.run("predict", str(page.archive), page.url, "--link", LINK, "--protocol", "h2",
                       "--measure", "--json", "--seed", str(seed), *loads, *change.arguments,
                       folder=folder, timeout=TIMEOUT_SECONDS)
    if done.returncode != 0:
        return done.stderr.decode().strip().splitlines()[-1]
    return json.loads(done.stdout)


def is_uncertain(report):
    """Whether chance can make an effect of a milestone that is judged: one standard error of the
    measured saving is above half of BELOW."""
    def variance(times):
        # Of the median of times that vary normally.
        return math.pi / 2 * statistics.variance(times) / len(times)

    return any(math.sqrt(variance(each["observed_ms"]) + variance(each["measured_ms"])) >
               BELOW / 2 * statistics.median(each["observed_ms"])
               for each in report["milestones"] if "measured" in each)


def join_loads(kept, more):
    """Adds the loads of `more` to those of `kept`. What was made of the fewer ones is gone."""
    for name in ("a.json", "b.json"):
        result, added = (json.loads((place / name).read_text()) for place in (kept, more))
        for load in added["loads"]:
            load["replay"] += len(result["replays"])
            load["run"] += result["loads"][-1]["run"] + 1
            load["order"] += result["loads"][-1]["order"] + 1
        result["replays"] += added["replays"]
        result["loads"] += added["loads"]
        (kept / name).write_text(json.dumps(result))
    for made in ("dependency.json", "lantern.json"):
        (kept / made).unlink(missing_ok=True)
    (more / "joined").touch()


def touches(kept, report):
    """Whether a what-if changes anything that a load asks for: if not, A is measured against A."""
    changed = sum(each["changed"] for each in report["what_ifs"])
    places = {place["where"] for each in report["what_ifs"] for place in each["places"]}
    if not report["what_ifs"] or len(places) < changed:
        return True  # not all of them are told
    return any(request["url"] in places
               for name in ("a.json", "b.json")
               for load in json.loads((kept / name).read_text())["loads"]
               for request in load["requests"])


def lantern(kept, url, change):
    """What Lighthouse's simulation says is saved, in ms of each milestone that it knows."""
    if change is None:
        return {}
    loads = json.loads((kept / "a.json").read_text())["loads"]
    traces = [load["trace"] for load in loads if load.get("trace") and not load["warm_up"]]
    both = {"before": LANTERN_LINK, "after": {**LANTERN_LINK, **change}}
    done = subprocess.run(["node", VISUALS / "lantern.mjs", npm_packages.installed(VISUALS), url,
                           json.dumps(both), *traces], capture_output=True, timeout=TIMEOUT_SECONDS)
    if done.returncode:
        print(done.stderr.decode(), file=sys.stderr)
        return {}
    told = json.loads(done.stdout)
    return {name: statistics.median(told["before"][name]) - statistics.median(told["after"][name])
            for name in told["before"]}


def rows_of(page, change, report):
    if isinstance(report, str):
        yield page, change, report[:70], *[""] * 13
        return
    does_less = any("does less" in remark for remark in report["remarks"])
    for each in report["milestones"]:
        if "measured" not in each:
            yield page, change, each["milestone"], "not measured", *[""] * 12
            continue
        measured, middle = each["measured"], each["quantiles"][0]
        before, ours = middle["observed_ms"], middle["saving_ms"]
        true, error = measured["saving_ms"], measured["error"]
        nothing = measured["error_if_nothing_changed"]
        judged = abs(true) > BELOW * before and report["touches"]
        theirs = report["lantern"].get(each["milestone"])
        yield (page, change, each["milestone"], round(before), round(ours), round(true),
               f"{error['of_saving']:.0%}" if judged else "",
               ("right" if ours * true > 0 else "WRONG") if judged else "",
               f"{ours / before:+.1%}" if not judged and report["touches"] else "",
               f"{error['distance']['median']:.2f}", f"{nothing['distance']['median']:.2f}",
               f"{measured['distance_of_the_same_loads']['median']:.2f}",
               round(theirs) if theirs is not None else "",
               f"{abs(theirs - true) / abs(true):.0%}" if judged and theirs is not None else "",
               "yes" if nothing["distance"]["largest"] == 1 else "", "yes" if does_less else "")


def share(text):
    return float(text.rstrip("%")) / 100


def report_errors(rows, suffix):
    if not rows:
        return
    figure.report(f"predict_saving_error_median{suffix}",
                  statistics.median(share(row[6]) for row in rows), "of the saving", "<= .25")
    figure.report(f"predict_sign_wrong{suffix}",
                  sum(row[7] == "WRONG" for row in rows) / len(rows), "of the effects", "<= .05")


def report_figures(rows):
    judged = [row for row in rows if row[6]]
    small = [abs(share(row[8])) for row in rows if row[8]]
    beside = [row for row in judged if row[13]]
    report_errors(judged, "")
    # No load of the one side is as fast as any of the other: what was measured is no chance.
    apart = [row for row in judged if row[14]]
    report_errors(apart, "_of_loads_apart")
    # A page whose scripts fail without what is deferred or dropped is another page.
    report_errors([row for row in apart if not row[15]], "_of_the_same_page")
    if judged:  # the predictor that says that nothing changes is wrong by the whole effect
        figure.report("predict_distance_median",
                      statistics.median(float(row[9]) for row in judged), "of the loads",
                      f"< {statistics.median(float(row[10]) for row in judged)}")
    if small:
        figure.report("predict_little_changes_max", max(small), "of the load", "<= .03")
    if beside:
        ours, theirs = (statistics.median(share(row[column]) for row in beside)
                        for column in (6, 13))
        figure.report("predict_saving_error_where_lighthouse_has_one", ours, "of the saving",
                      f"< {theirs}")
        figure.report("lighthouse_saving_error_median", theirs, "of the saving", None)


def pages_of(folder):
    if sys.argv[1:]:
        for archive, url in zip(sys.argv[1::2], sys.argv[2::2]):
            yield Page(archive, pathlib.Path(archive), url, f"!host={url.split('/')[2]}",
                       f"!host={url.split('/')[2]}")
        return
    archive = folder / "three hosts.reprise"
    if not archive.exists():
        enlarged()
        ThreeHosts.setUpClass()
        shutil.copy(ThreeHosts.archive, archive)
        ThreeHosts.doClassCleanups()
    third = f"host={THIRD}"
    yield Page("three hosts", archive, URL, third, third, "path=/late.png", "br")
    yield demonstration(folder)
    yield from documentation_pages(folder)
    yield from real_pages(folder)


def main(folder):
    rows = []
    chosen = re.compile(os.environ.get("PREDICT_PAGES", ""))
    for page in filter(lambda page: chosen.search(page.name), pages_of(folder)):
        for change in changes(page):
            for row in rows_of(page.name, change.name, predicted(folder, page, change)):
                rows.append(row)
                print(*row, sep=" | ", file=sys.stderr, flush=True)
    figure.table(("page", "change", "milestone", "before, ms", "predicted saving",
                  "measured saving", "error of it", "sign", "predicted where little changes",
                  "distance", "if nothing changed", "of the same loads", "Lighthouse's saving",
                  "error of that", "loads apart", "does less"), rows)
    report_figures(rows)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(pathlib.Path(os.environ.get("PREDICT_KEEP", made)))
