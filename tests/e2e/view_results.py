"""Made-up results of page loads, for the page that shows them: as `reprise load -o` writes them,
realistic enough to be looked at, the same for the same seed."""

import random

KINDS = (("Stylesheet", "css", "text/css", 18_000), ("Script", "js", "text/javascript", 60_000),
         ("Image", "jpg", "image/jpeg", 90_000), ("Font", "woff2", "font/woff2", 30_000),
         ("Fetch", "json", "application/json", 4_000))
WEIGHTS = (1, 3, 8, 1, 2)
CONNECTIONS_A_HOST = 6


class _Network:
    """One load's time: connections of each host, and a link that they share."""

    def __init__(self, chance, rtt_ms, bits_a_ms):
        self.chance = chance
        self.rtt_ms = rtt_ms
        self.bits_a_ms = bits_a_ms
        self.link_free_ms = 0
        self.hosts = {}
        self.connections = 0

    def fetch(self, host, start_ms, size, think_ms):
        timing = dict.fromkeys(("dns_start_ms", "dns_end_ms", "connect_start_ms", "tls_start_ms",
                                "connect_end_ms"))
        pool = self.hosts.setdefault(host, [])
        free = min(pool, key=lambda each: each[1], default=None)
        if len(pool) < CONNECTIONS_A_HOST and (free is None or free[1] > start_ms):
            self.connections += 1
            free = [self.connections, 0]
            pool.append(free)
            at = start_ms + 0.4
            if len(pool) == 1:
                timing.update(dns_start_ms=at, dns_end_ms=at + self.rtt_ms)
                at += self.rtt_ms
            timing.update(connect_start_ms=at, tls_start_ms=at + self.rtt_ms,
                          connect_end_ms=at + 2 * self.rtt_ms + 2)
            ready = at + 2 * self.rtt_ms + 2
        else:
            ready = max(start_ms, free[1])
        sent = ready + 0.3
        first = sent + self.rtt_ms + think_ms
        took = size * 8 / self.bits_a_ms
        self.link_free_ms = max(self.link_free_ms, first) + took
        free[1] = self.link_free_ms
        timing.update(send_start_ms=ready, send_end_ms=sent, first_byte_ms=first)
        return free[0], timing, first, self.link_free_ms


def requests_of(count, chance, network, host="shop.test"):
    """A document, and what it leads to: `count` requests in all."""
    requests = []

    def add(url, kind, mime, size, start, initiator, think):
        name = url.split("/")[2]
        connection, timing, first, end = network.fetch(name, start, size, think)
        requests.append({
            "url": url, "method": "GET", "resource_type": kind, "status": 200, "protocol": "h2",
            "remote_address": f"198.18.0.{sum(name.encode()) % 200 + 1}:443", "mime_type": mime,
            "failure": "", "from_cache": False, "encoded_bytes": size, "decoded_bytes": size * 3,
            "priority": "High" if kind in ("Stylesheet", "Document") else "Low",
            "connection": connection, "initiator": initiator, "timing": timing,
            "start_ms": start, "response_ms": first, "end_ms": end})
        return requests[-1]

    document = add(f"https://{host}/", "Document", "text/html", 24_000, 0, "", 120)
    parents = [document]
    for number in range(1, count):
        kind, ending, mime, size = chance.choices(KINDS, WEIGHTS)[0]
        parent = chance.choice(parents)
        start = (parent["response_ms"] if parent is document else parent["end_ms"])
        name = chance.choice((host, host, "img.shop.test", "cdn.test"))
        made = add(f"https://{name}/{kind.lower()}/{number}.{ending}", kind, mime,
                   int(size * chance.lognormvariate(-0.5, 0.8)),
                   start + chance.expovariate(0.1), parent["url"], chance.expovariate(0.05))
        if kind in ("Script", "Stylesheet") and len(parents) < 8:
            parents.append(made)
    requests.sort(key=lambda each: each["start_ms"])
    return requests


def load_of(run, count, chance, configuration, rtt_ms=60, bits_a_ms=9_000, **more):
    network = _Network(chance, rtt_ms * chance.gauss(1, 0.01), bits_a_ms)
    requests = requests_of(count, chance, network)
    last = max(each["end_ms"] for each in requests)
    return {
        "url": "https://shop.test/", "run": run, "outcome": "loaded", "failure": "",
        "final_url": "https://shop.test/", "configuration": configuration, "order": run,
        "warm_up": run == 1, "first_paint_ms": last * 0.3, "first_contentful_paint_ms": last * 0.33,
        "largest_contentful_paint_ms": last * 0.6, "dom_content_loaded_ms": last * 0.55,
        "load_event_ms": last * 0.98, "last_load_ms": last, "last_resource_ms": last,
        "cumulative_layout_shift": 0.02, "request_count": len(requests),
        "encoded_bytes": sum(each["encoded_bytes"] for each in requests),
        "connection_count": network.connections, "hits": len(requests), "misses": 0,
        "requests": requests, "requests_not_kept": 0, "console_errors": [], "remarks": [], **more}


def configuration(protocol="h2", link="wpt:4g"):
    return {"browser": "chromium", "protocol": protocol, "link": link, "cache": "cold"}


def result_of(loads):
    return {"schema": "reprise-load/1", "reprise": "0.1.0", "archive": "shop.reprise",
            "archive_sha256": "ab" * 32, "seed": 1,
            "machine": {"cpu": "A processor", "cores": 2, "kernel": "6.1", "memory_bytes": 8 << 30},
            "browser": {"version": "Chrome/156.0.8078.79", "flags": ["--headless"]},
            "settings": {"timeout_ms": 30000, "quiet_ms": 500, "settle_ms": 500, "width": 1280,
                         "height": 800},
            "loads": loads, "replays": []}


def matrix(runs, count, seed):
    """Two protocols over one link, `runs` loads of each after a warm-up."""
    chance = random.Random(seed)
    loads = []
    for run in range(1, runs + 2):
        for protocol, slower in (("h1", 1.12), ("h2", 1)):
            loads.append(load_of(run, count, chance, configuration(protocol),
                                 rtt_ms=60 * slower * chance.gauss(1, 0.02)))
    return result_of(loads)
