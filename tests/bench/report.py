"""From what was measured to figures, verdicts and a table."""

import statistics

OURS = "reprise"
FIGURES = ("cpu_seconds_per_10000", "requests_per_second", "p50_ms", "p99_ms", "peak_memory_mb")


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def ratio_to(runs, peer):
    """Ours to the peer's within each repetition, so that a slow moment of the machine hits both."""
    return spread([ours["cpu_seconds_per_10000"] / theirs["cpu_seconds_per_10000"]
                   for ours, theirs in zip(runs[OURS], runs[peer])])


def summary(case, runs):
    """`runs` has a list of repetitions for each server. The schema is in README.md."""
    servers = {}
    for server, repetitions in runs.items():
        servers[server] = {figure: spread([each[figure] for each in repetitions])
                           for figure in FIGURES if figure in repetitions[0]}
        servers[server]["failed"] = sum(each["failed"] for each in repetitions)
    ratios = {peer: ratio_to(runs, peer) for peer in runs if peer != OURS}
    target = None
    best_peer = max(ratios, key=lambda peer: ratios[peer]["median"], default=None)
    if best_peer:
        ratio = ratios[best_peer]["median"]
        target = {"to": best_peer, "limit": case.limit, "ratio": ratio, "met": ratio <= case.limit}
    return {"case": case.name, "title": case.title, "connections": case.connections,
            "requests": case.requests, "servers": servers, "ratios": ratios,
            "best_peer": best_peer, "target": target}


def faults(result):
    """Why a result must not be believed: failed requests, figures that are not there."""
    for server, figures in result["servers"].items():
        if figures["failed"]:
            yield f"{result['case']}: {figures['failed']} requests to {server} failed"
        for figure in FIGURES:
            if figure in figures and figures[figure]["min"] <= 0:
                yield f"{result['case']}: {figure} of {server} is {figures[figure]['min']}"
    if result.get("instructions_failed"):
        yield f"{result['case']}: {result['instructions_failed']} requests failed while counted"


def number(value):
    """Three significant digits, without an exponent."""
    for at_least, digits in ((100, 0), (10, 1), (1, 2), (0.1, 3)):
        if value >= at_least:
            return f"{value:,.{digits}f}"
    return f"{value:.4f}"


def latency(figures, name):
    return number(figures[name]["median"]) if name in figures else "-"


def with_spread(figure, show=number):
    return f"{show(figure['median'])} ({show(figure['min'])} - {show(figure['max'])})"


def counts_text(counts):
    """Of one server: instructions with their libraries, and system calls."""
    by_library = counts["instructions"]
    parts = ", ".join(f"{library} {by_library[library]:,.0f}" for library in sorted(by_library))
    return (f"{sum(by_library.values()):,.0f} instructions each ({parts}),"
            f" {counts['system_calls']:.2f} system calls")


def case_lines(result):
    each = "connections" if result["connections"] else "requests"
    yield f"{result['title']}: {result['requests']:,} {each} a repetition"
    yield (f"  {'':11}{'CPU s / 10,000':>28}{'a second':>12}{'p50 ms':>9}{'p99 ms':>9}"
           f"{'peak MB':>9}   ours / theirs")
    for server, figures in result["servers"].items():
        ratio = result["ratios"].get(server)
        yield (f"  {server:11}{with_spread(figures['cpu_seconds_per_10000']):>28}"
               f"{number(figures['requests_per_second']['median']):>12}"
               f"{latency(figures, 'p50_ms'):>9}{latency(figures, 'p99_ms'):>9}"
               f"{number(figures['peak_memory_mb']['max']):>9}"
               f"   {with_spread(ratio, '{:.2f}'.format) if ratio else ''}".rstrip())
    if result.get("instructions"):
        yield f"  {OURS}: {result['instructions']:,.0f} instructions each, by callgrind"
    for server, counts in result.get("counts", {}).items():
        yield f"  {server:11}{counts_text(counts)}"
    yield ""


def verdict(target):
    if target is None:
        return "no peer is installed"
    words = "met" if target["met"] else f"MISSED, by {target['ratio'] - target['limit']:.2f}"
    return f"at most {target['limit']} x {target['to']}: {words}"


def table(results):
    """All results for people: each case with its servers, then one row a case."""
    lines = [line for result in results for line in case_lines(result)]
    peers = dict.fromkeys(peer for result in results for peer in result["ratios"])
    lines.append(f"{'CPU s / 10,000, median':32}{OURS:>11}" +
                 "".join(f"{peer:>11}" for peer in peers) + f"{'ratio':>8}  target")
    for result in results:
        row = f"{result['title']:32}"
        for server in (OURS, *peers):
            figures = result["servers"].get(server)
            row += f"{number(figures['cpu_seconds_per_10000']['median']) if figures else '-':>11}"
        ratio = f"{result['target']['ratio']:.2f}" if result["target"] else "-"
        lines.append(f"{row}{ratio:>8}  {verdict(result['target'])}")
    return "\n".join(lines)
