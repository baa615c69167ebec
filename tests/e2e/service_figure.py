#!/usr/bin/env python3
"""A service predicted, then deployed and measured: Node with OpenTelemetry, PostgreSQL and
Redis, six scenarios as `reprise predict-service` takes them, 1,000 requests a side
(SERVICE_REQUESTS).

The profile of the database is measured by its queries alone, under each condition. Measured are the
times that a client waits for; all conditions in turn. The distance of two distributions is
vertical, at the pooled sample points: its median, and its maximum (Kolmogorov-Smirnov's D). Beside
it are the predictor that says that nothing changes, and the floor: what the scenario starts from,
one replica or two, measured twice.

A table in Markdown goes to stdout, then the figures."""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import figure
import harness
import spans_test
from service_deployment import PROCESSORS, ROWS, Deployment, Experiment, distance, predict_service

REQUESTS = int(os.environ.get("SERVICE_REQUESTS", "1000"))
FAR_MS = 15
USUAL = {"tier": "indexed", "location": "here", "size": str(ROWS), "concurrency": "1"}
# What the scenarios start from. Each is measured again, for the floor.
BASES = {"base": {}, "two": {"users": 4, "replicas": 2}}


def conditions(deployment):
    """What the profile is made of, and the scenarios: name, what it starts from, as it is
    predicted, as it is deployed."""
    # A lower tier of the database reads without its index.
    slow_tier = {"PGOPTIONS": "-c enable_indexscan=off -c enable_bitmapscan=off "
                              "-c enable_indexonlyscan=off"}
    far = deployment.far_database(FAR_MS)
    large = {"ROWS": str(4 * ROWS)}
    profiles = [({}, {}), ({"tier": "scanned"}, slow_tier), ({"location": "far"}, far),
                ({"size": large["ROWS"]}, large)]
    profiles += [({"concurrency": str(users)}, {"others": users - 1}) for users in (2, 4, 8)]
    scenarios = [
        ("another tier", "base", "postgresql: tier=scanned", slow_tier),
        ("another location", "base", "postgresql: location=far", far),
        ("another size", "base", f"postgresql: size={large['ROWS']}", large),
        ("contention", "base", "postgresql: concurrency=4", {"others": 3}),
        ("8 users at once", "base", "service: users=8", {"users": 8}),
        ("a replica lost", "two", "service: users=2, lost=1/2", {"users": 4})]
    return profiles, scenarios


def measure(deployment, profiles, scenarios):
    """All conditions, by name."""
    experiment = Experiment(deployment)
    for number, (_, condition) in enumerate(profiles):
        experiment.add(f"profile {number}", path="/database", **condition)
    for name, condition in BASES.items():
        experiment.add(name, **condition)
        experiment.add(f"{name} again", **condition)
    for name, _, _, condition in scenarios:
        experiment.add(name, **condition)
    experiment.run(REQUESTS)
    return experiment.made


def make_profile(folder, profiles, made):
    profile = folder / "profile.json"
    for number, (changed, _) in enumerate(profiles):
        told = ",".join(f"{key}={value}" for key, value in {**USUAL, **changed}.items())
        predict_service(*made[f"profile {number}"].spans, "--conditions", told, "--add-to-profile",
                        profile)
    return profile


def predicted_ms(folder, before, profile, scenario):
    think = folder / "think.txt"
    predict_service(*before.spans, "--profile", profile, "--scenario", scenario, "-o", think,
                    "--service-demand", before.service_demand_ms)
    return [float(line) for line in think.read_text().split()]


def show_table(rows):
    version = subprocess.run([spans_test.PROGRAMS["node"], "--version"], check=True,
                             capture_output=True, text=True).stdout.strip()
    print(f"\nNode {version}, {REQUESTS:,} requests a side; times are medians; distances are of "
          "distributions, their median and maximum (D).")
    figure.table(("scenario", "before, ms", "predicted", "measured", "distance", "D",
                  "if nothing changed", "D", "A against A", "D"),
                 [(name, *(f"{statistics.median(times):.1f}" for times in sides),
                   *(f"{value:.3f}" for each in distances for value in each))
                  for name, sides, distances in rows])


def report_scenario(name, wrong, nothing):
    name = name.replace(" ", "_")
    figure.report(f"service_distance_{name}", round(wrong[0], 4), "of the distribution", "<= .07")
    figure.report(f"service_distance_beside_nothing_{name}", round(wrong[0] / nothing[0], 3),
                  "of that if nothing changed", "< .5")
    figure.report(f"service_largest_distance_{name}", round(wrong[1], 4), "of the distribution",
                  f"< {nothing[1] / 2:.3f}")


def report(rows, floors):
    for name, _, (wrong, nothing, _) in rows:
        report_scenario(name, wrong, nothing)
    figure.report("service_distance_worst",
                  round(max(wrong[0] for _, _, (wrong, _, _) in rows), 4), "of the distribution",
                  "<= .07")
    figure.report("service_distance_beside_nothing",
                  round(statistics.median(wrong[0] / nothing[0]
                                          for _, _, (wrong, nothing, _) in rows), 3),
                  "of that if nothing changed", "< .33")
    for name, floor in floors.items():
        figure.report(f"service_floor_{name}", round(floor[0], 4), "of the distribution", None)


def main(folder):
    # A service has the first processor for itself, unless it has several replicas.
    os.sched_setaffinity(0, {PROCESSORS[-1]})
    deployment = Deployment(folder)
    with deployment.ends:
        profiles, scenarios = conditions(deployment)
        made = measure(deployment, profiles, scenarios)
    profile = make_profile(folder, profiles, made)
    floors = {name: distance(made[name].times, made[f"{name} again"].times) for name in BASES}
    rows = []
    for name, start, scenario, _ in scenarios:
        before, measured = made[start], made[name]
        predicted = predicted_ms(folder, before, profile, scenario)
        rows.append((name, (before.times, predicted, measured.times),
                     (distance(predicted, measured.times), distance(before.times, measured.times),
                      floors[start])))
    show_table(rows)
    report(rows, floors)


if __name__ == "__main__":
    if spans_test.MISSING:
        print("skipped: not installed:", ", ".join(spans_test.MISSING))
        sys.exit(harness.SKIPPED)
    with tempfile.TemporaryDirectory(prefix="service") as made_folder:
        main(pathlib.Path(made_folder))
