#!/usr/bin/env python3
"""From a service's database to what its page's user sees: the document of a page waits for the
service of service_figure.py. The page is visited through a recorder. From the traces of the visits
`predict-service` predicts the think times with the database in another location, and from these and
the recording `predict` predicts the page's load times. Then the service is deployed with the
database there, visited and recorded too, and the first SERVICE_PAGE_LOADS visits of each condition
are loaded with their recorded think times, in turn, for SERVICE_PAGE_SECONDS at most.

Beside the distance of the distributions are the predictor that says that nothing changes, and the
floor: the unchanged service deployed twice. The page as it is, is predicted and measured as well.

A table in Markdown goes to stdout, then the figures."""

import json
import os
import pathlib
import random
import shutil
import statistics
import sys
import tempfile
import time

import devtools
import figure
import harness
import spans_test
from service_deployment import (PROCESSORS, Deployment, Experiment, Measurement, distance,
                                predict_service)

LOADS = int(os.environ.get("SERVICE_PAGE_LOADS", 48))
LOAD_SECONDS = int(os.environ.get("SERVICE_PAGE_SECONDS", 480))
BATCHES = 6
VISITS = 180  # of the unchanged service, whose traces are predicted from
PREDICTED_RUNS = 24
PROFILE_REQUESTS = 500
FAR_MS = 30
LINK = "9000/9000/60,queue=1000p"  # in which nothing is lost, as in the model
OPTIONS = ("--link", LINK, "--think-time", "recorded", "--inject", "none", "--no-selfcheck",
           "--browser", harness.BROWSER, "--quiet", "500")
TIMEOUT_SECONDS = 600
TITLE = "Catalogue is read"  # once the page's script has run
MILESTONES = {"first contentful paint": "first_contentful_paint_ms",
              "load event": "load_event_ms"}


def host_of(name):
    return f"{name}.service.test"


def url_of(name, number):
    """A visit's own URL: the recording has its own times of each."""
    return f"http://{host_of(name)}/page?{number}"


def reprise(folder, *arguments):
    done = harness.run(*map(str, arguments), folder=folder, timeout=TIMEOUT_SECONDS)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def make_profile(folder, deployment, far):
    experiment = Experiment(deployment)
    for location, condition in (("here", {}), ("far", far)):
        experiment.add(f"profile {location}", path="/database", **condition)
    experiment.run(PROFILE_REQUESTS)
    profile = folder / "profile.json"
    for location in ("here", "far"):
        predict_service(*experiment.made[f"profile {location}"].spans, "--conditions",
                        f"location={location}", "--add-to-profile", profile)
    return profile


def visit(browser, url):
    browser.show(url, 1280, 900)
    title = browser.evaluate("document.title")
    assert title == TITLE, f"{url} was not loaded: its title is '{title}'"


def record(folder, archive, services):
    """Visits the pages of all services, in a mixed order, through one recorder."""
    arguments = [each for name, service in services.items()
                 for each in ("--connect-to", f"{host_of(name)}:80:127.0.0.1:{service.ports[0]}")]
    urls = [url_of(name, number) for name in services
            for number in range(max(VISITS, LOADS) if name == "base" else LOADS)]
    random.Random(1).shuffle(urls)
    recorder = harness.Reprise(folder, "record", "-o", str(archive), "--inject", "none",
                               *arguments)
    try:
        browser = devtools.Page(devtools.PROGRAM, "--headless", *recorder.ready["chromium_flags"])
        try:
            for url in urls:
                visit(browser, url)
        finally:
            browser.close()
        code = recorder.stop()
        assert code == 0, recorder.log()
    finally:
        recorder.kill()
    for service in services.values():
        service.write()


def loads_of(folder, archive, urls):
    result, traces = folder / "loads.json", folder / "traces"
    # Traced, as those are that are predicted from.
    done = harness.run("load", str(archive), *urls, *OPTIONS, "--trace", str(traces), "-o",
                       str(result), folder=folder, timeout=TIMEOUT_SECONDS)
    assert done.returncode in (0, 1), done.stderr.decode()  # 1: a page was not loaded
    shutil.rmtree(traces)
    return [each for each in json.loads(result.read_text())["loads"]
            if each["outcome"] == "loaded" and "disturbed" not in each]


def measure(folder, archive, names):
    """Each milestone's times of each service's page, in ms: each recorded visit is loaded once."""
    times = {name: {milestone: [] for milestone in MILESTONES} for name in names}
    by_host = {host_of(name): times[name] for name in names}
    ends = time.monotonic() + LOAD_SECONDS
    each_time = -(-LOADS // BATCHES)
    for first in range(0, LOADS, each_time):
        if time.monotonic() > ends:
            print(f"{first} loads of each: the time is up", file=sys.stderr, flush=True)
            break
        urls = [url_of(name, number) for name in names
                for number in range(first, min(first + each_time, LOADS))]
        random.Random(first).shuffle(urls)
        for load in loads_of(folder, archive, urls):
            for milestone, field in MILESTONES.items():
                if load[field] is not None:
                    by_host[load["url"].split("/")[2]][milestone].append(load[field])
        print(f"{min(first + each_time, LOADS)} of {LOADS} loads of each", file=sys.stderr,
              flush=True)
    return times


def predicted_ms(folder, archive, think):
    """The predicted times of each milestone. The page is loaded for the first prediction alone."""
    kept = folder / "predicted"
    loads = (("--loads", kept) if (kept / "a.json").exists() else
             ("--runs", PREDICTED_RUNS, "-o", kept))
    document = f"host={host_of('base')} path=/page query=0"
    told = reprise(folder, "predict", archive, url_of("base", 0), "--what-if",
                   f"{document}: think={think}", *OPTIONS, "--json", "--seed", 1, *loads)
    return {each["milestone"]: each["predicted_ms"] for each in json.loads(told)["milestones"]}


def deploy_and_record(folder, archive):
    """The services that were visited, by name, and the profile of their database."""
    deployment = Deployment(folder)
    with deployment.ends:
        far = deployment.far_database(FAR_MS)
        profile = make_profile(folder, deployment, far)
        services = {name: Measurement(deployment, name, path="/page", **condition)
                    for name, condition in (("base", {}), ("again", {}), ("far", far))}
        record(folder, archive, services)
    return services, profile


def rows_of(times, predicted):
    """Of each prediction: what it is of, medians, and distances."""
    for milestone in MILESTONES:
        before, again, far = (times[name][milestone] for name in ("base", "again", "far"))
        floor = distance(before, again)
        as_it_is, elsewhere = (predicted[name][milestone] for name in ("base", "far"))
        yield ("as it is", milestone, (before, as_it_is, before),
               (distance(as_it_is, before), None, floor))
        yield ("another location", milestone, (before, elsewhere, far),
               (distance(elsewhere, far), distance(before, far), floor))


def show_table(rows, loads):
    print(f"\n{loads} loads of each recording or more over {LINK}; times are medians; distances "
          "are of distributions, their median and maximum (D).")
    figure.table(("database", "milestone", "before, ms", "predicted", "measured", "distance", "D",
                  "if nothing changed", "D", "A against A", "D"),
                 [(what, milestone, *(f"{statistics.median(each):.1f}" for each in sides),
                   *(text for each in distances
                     for text in (("", "") if each is None else (f"{at:.3f}" for at in each))))
                  for what, milestone, sides, distances in rows])


def report(rows):
    for what, milestone, _, (wrong, nothing, floor) in rows:
        name = milestone.replace(" ", "_")
        if nothing is None:
            figure.report(f"service_page_{name}_as_it_is", round(wrong[0], 4),
                          "of the distribution", None)
            figure.report(f"service_page_{name}_floor", round(floor[0], 4), "of the distribution",
                          None)
            continue
        # A few dozen loads alone are a distance of .05 from what they are drawn from.
        figure.report(f"service_page_{name}_distance", round(wrong[0], 4), "of the distribution",
                      "<= .1")
        figure.report(f"service_page_{name}_beside_nothing", round(wrong[0] / nothing[0], 3),
                      "of that if nothing changed", "< .33")
        figure.report(f"service_page_{name}_largest_distance", round(wrong[1], 4),
                      "of the distribution", f"< {nothing[1] / 2:.3f}")


def main(folder):
    archive = folder / "page.reprise"
    # A service has the first processor for itself.
    os.sched_setaffinity(0, PROCESSORS[1:] or PROCESSORS)
    services, profile = deploy_and_record(folder, archive)
    os.sched_setaffinity(0, PROCESSORS)
    predicted = {}
    scenario = ("--profile", profile, "--scenario", "postgresql: location=far")
    for name, arguments in (("base", ()), ("far", scenario)):
        think = folder / f"think-{name}.txt"
        predict_service(*services["base"].spans, *arguments, "-o", think)
        predicted[name] = predicted_ms(folder, archive, think)
    times = measure(folder, archive, list(services))
    fewest = min(len(each) for milestones in times.values() for each in milestones.values())
    assert fewest >= LOADS // 2, f"{fewest} of {LOADS} loads of a recording count"
    rows = list(rows_of(times, predicted))
    show_table(rows, fewest)
    report(rows)


if __name__ == "__main__":
    missing = spans_test.MISSING + ([] if devtools.PROGRAM else [harness.BROWSER])
    if missing:
        print("skipped: not installed:", ", ".join(missing))
        sys.exit(harness.SKIPPED)
    with tempfile.TemporaryDirectory(prefix="service") as made_folder:
        main(pathlib.Path(made_folder))
