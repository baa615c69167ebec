"""What the parts of busy_figure.py share: results that are kept from one run to the next, the time
that a run may take, the pages, and their loads."""

import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import busy_machine
import gate_sites
import harness
import page_load_figure
from busy_machine import BESIDE

LINK = "wpt:4g"
RUNS = int(os.environ.get("FIGURE_RUNS", "30"))
LOAD_SECONDS = 30  # with its browser, at most: what takes longer hangs
LOADS_SECONDS_MAX = 26 * 60  # many loads together are quicker
STARTED = time.monotonic()

Page = collections.namedtuple("Page", "name url flags beside")
DEMO = Page("demo", page_load_figure.PAGE, (), tuple(BESIDE))
# Over HTTP/1.1 pages as small as this have two load times: their connections race.
SMALL = Page("small", gate_sites.URL, ("--protocol", "h2"), ("idle", "loops"))
SMALL_REQUESTS = 10


class Kept:
    """Results by name, each a JSON file of the folder; what is there is not measured again."""

    def __init__(self, folder):
        self.folder = folder
        self.asked_for = []

    def path(self, name):
        return self.folder / f"{name}.json"

    def lacks(self, name, seconds):
        """Whether it is to be measured, which takes so long at most."""
        self.asked_for.append(name)
        return not self.path(name).exists() and is_time_for(seconds)

    def get(self, name):
        return json.loads(self.path(name).read_text()) if self.path(name).exists() else None

    def put(self, name, value):
        unfinished = self.path(name).with_suffix(".new")
        unfinished.write_text(json.dumps(value))
        unfinished.replace(self.path(name))

    def first(self, *names):
        """The first of them that is there, or None."""
        return next((name for name in names if self.path(name).exists()), None)

    def missing(self):
        return [name for name in self.asked_for if not self.path(name).exists()]


def is_time_for(seconds):
    return time.monotonic() - STARTED + seconds <= 60 * busy_machine.MINUTES


def chosen(names, family=()):
    """Those that the command line asks for; all if it asks for none of their family."""
    asked_for = {*sys.argv[1:]} & {*names, *family} or {*names}
    return [each for each in names if each in asked_for]


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(folder, *arguments, rights="rights", seconds=600):
    """The exit code, stdout and stderr; `folder` is the home, too."""
    process = subprocess.Popen([harness.REPRISE, *map(str, arguments)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               cwd=folder, env=busy_machine.environment(folder),
                               **busy_machine.user(rights))
    try:
        printed, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.terminate()
        _, said = process.communicate(timeout=busy_machine.ENDING_SECONDS)
        sys.exit(f"reprise {arguments[0]}: takes more than {seconds} s\n{said}")
    return process.returncode, printed, said


def archive_of(folder, page):
    """Records it once."""
    archive = folder / f"{page.name}.reprise"
    if not archive.exists():
        with tempfile.TemporaryDirectory(dir=folder) as name:
            place = pathlib.Path(name)
            recorded = (page_load_figure.record(place) if page is DEMO else
                        gate_sites.record(place, page.name, small_site()))
            recorded.replace(archive)
    return archive


def small_site():
    pictures = SMALL_REQUESTS - 3
    html = (b"<!doctype html><title>t</title><link rel=icon href=data:,>"
            b"<link rel=stylesheet href=/style.css><script src=/script.js></script>"
            + b"".join(b"<img src=/%d.svg>" % i for i in range(pictures)))
    files = {"/": (b"text/html", html),
             "/style.css": (b"text/css", b"/*" + gate_sites.words(1, 20_000) + b"*/"),
             "/script.js": (b"text/javascript", b"/*" + gate_sites.words(2, 20_000) + b"*/")}
    files |= {f"/{i}.svg": gate_sites.picture(3 + i, 10_000) for i in range(pictures)}
    return gate_sites.Site(files)


def bound_of(runs):
    """The seconds that so many loads may take, after one that warms up."""
    return min(LOAD_SECONDS * (runs + 1), LOADS_SECONDS_MAX)


def load(kept, name, page, rights, runs, *flags):
    """Keeps the result of so many loads."""
    archive = busy_machine.copy_for(kept.folder, archive_of(kept.folder, page), rights)
    result = archive.parent / "loads.json"
    code, _, said = run(archive.parent, "load", archive, page.url, "--link", LINK, "--runs", runs,
                        "--no-bodies", *page.flags, *flags, "-o", result, rights=rights,
                        seconds=bound_of(runs))
    say(said)
    if code not in (0, 5):
        sys.exit(f"load: exit {code}")
    result.replace(kept.path(name))


def loaded(result):
    """Its loads that count, but for what disturbed them."""
    return [each for each in result["loads"]
            if not each["warm_up"] and each["load_event_ms"] is not None]


def times_of(result):
    return [each["load_event_ms"] for each in loaded(result)]


def cv_of(times):
    return 100 * statistics.stdev(times) / statistics.mean(times)
