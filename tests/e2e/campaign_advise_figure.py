#!/usr/bin/env python3
"""`reprise campaign advise` over 20 measured pages of three owners, twice; between, one page is
recorded again with a script more in its chain. An idle machine's figure: 25 minutes a round.

usage: campaign_advise_figure.py [PAGES]

A third of the pages has a script that is not compressed, a third a picture that a script finds
late, a third neither.
"""

import gzip
import json
import random
import shutil
import sys

import campaigns
import figure
import harness
from what_if_test import png
from wire import Certificate, Origin, response

PAGES = int(sys.argv[1]) if sys.argv[1:] else 20
OWNERS = ("shop", "news", "help")
HOSTS = tuple(f"www.{owner}.test" for owner in OWNERS)
LINK = "10mbit/10mbit/60"
CANDIDATES = 2  # for each page
BUDGET_MINUTES = 1.25  # for each page
WORSE = 4
FAULTS = ("/app.js", "/hero.png", None)


def fault_of(page):
    return FAULTS[page // len(OWNERS) % len(FAULTS)]


def url_of(page):
    return f"https://{HOSTS[page % len(OWNERS)]}/{page}"


def append(element, target):
    kind, _, name = element.partition(".")
    return f"document.head.append(Object.assign(document.createElement('{kind}'), " \
           f"{{{name}: '{target}'}}));".encode()


def files_of(page, is_worse):
    """By path, what the page's origin serves: type, body, whether it goes out compressed."""
    fault = fault_of(page)
    app = b"window.app = 1;"
    if fault == "/hero.png":
        app += append("img.src", "/hero.png")
    if is_worse:
        app += append("script.src", "/more.js")
    if fault == "/app.js":
        app += b"//" + random.Random(page).randbytes(100_000).hex().encode()
    return {
        f"/{page}": ("text/html", b"<!doctype html><title>page</title>"
                     b"<link rel=icon href=data:,><link rel=stylesheet href=/style.css>"
                     b"<script src=/app.js></script><p>words", True),
        "/style.css": ("text/css", b"p { color: #123 }", True),
        "/app.js": ("text/javascript", app, fault != "/app.js"),
        "/more.js": ("text/javascript", b"//" + random.Random(1).randbytes(40_000).hex().encode(),
                     True),
        "/hero.png": ("image/png", png(page, 700), False)}


class Advised(campaigns.CampaignCase):
    def record_page(self, page, is_worse=False):
        files, host = files_of(page, is_worse), HOSTS[page % len(OWNERS)]

        def answer(request):
            if request.target not in files:
                return response(b"", b"404 Not Found")
            kind, body, is_coded = files[request.target]
            headers = b"Cache-Control: no-store\r\nContent-Type: " + kind.encode() + b"\r\n"
            if is_coded:
                headers += b"Content-Encoding: gzip\r\n"
                body = gzip.compress(body, mtime=0)
            return response(body, headers=headers)

        archive = self.corpus / f"p{page:02}.reprise"
        archive.unlink(missing_ok=True)
        origin = Origin(answer, names=(host,),
                        tls=Certificate(self.folder / f"{page}-{is_worse}", (host,)))
        try:
            done = harness.run("record", "-o", str(archive), "--quiet", "500", "--inject", "none",
                               *origin.connect_arguments(), url_of(page), folder=self.folder,
                               timeout=120)
        finally:
            origin.close()
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def advised(self, name, *arguments):
        """A campaign over all pages: its result set, and the digest of each owner."""
        plan, results, digests = (self.folder / f"{name}-{part}"
                                  for part in ("plan", "set", "digests"))
        flags = ["--quiet", "200", "--settle", "200", "--inject", "none"]
        file = self.campaign(task="advise", archives=[str(self.corpus)], links=[LINK],
                             protocols=["h2"], browsers=[campaigns.BROWSER], flags=flags,
                             advise_minutes=BUDGET_MINUTES,
                             sides=[{"name": "A", "flags": ["--candidates", str(CANDIDATES)]}])
        self.run_campaign("plan", file, "-o", plan)
        self.run_campaign("submit", plan, "--node", "here",
                          timeout=PAGES * BUDGET_MINUTES * 120)
        self.run_campaign("collect", plan, "-o", results)
        told = self.run_campaign("advise", results, "--owners", self.owners, "-o", digests,
                                 *arguments)
        print(name, told.stdout.decode(), sep="\n", file=sys.stderr, flush=True)
        return results, {path.stem: json.loads(path.read_text())
                         for path in digests.glob("*.json")}

    def test_twice_with_one_page_made_worse_between(self):
        self.corpus = self.folder / "corpus"
        self.corpus.mkdir()
        self.owners = self.folder / "owners.json"
        self.owners.write_text(json.dumps({"schema": "reprise-owners/1", "owners": [
            {"owner": owner, "pages": [f"https://{host}/*"]}
            for owner, host in zip(OWNERS, HOSTS)]}))
        for page in range(PAGES):
            self.record_page(page)
        results, first = self.advised("first")
        self.record_page(WORSE, is_worse=True)
        _, second = self.advised("second", "--before", results)

        rows, slower, found, false = [], [], 0, 0
        for page in range(PAGES):
            owner, fault = OWNERS[page % len(OWNERS)], fault_of(page)
            before, after = (next(each for each in digests[owner]["pages"]
                                  if each["url"] == url_of(page)) for digests in (first, second))
            what = [each["what_if"] for each in before["suggestions"]]
            found += fault is not None and any(fault in each for each in what)
            false += fault is None and bool(what)
            since = after["since_last_time"]
            if since["verdict"] == "slower":
                slower.append(page)
            rows.append((owner, page, fault or "", "; ".join(
                f"{each['what_if']} {-each['saving_ms']:+.0f}" for each in before["suggestions"]),
                f"{before['median_ms']:.0f}", f"{since['shift_ms']:+.1f}, {since['verdict']}",
                "; ".join(each["what_if"] for each in after["suggestions"] if each["new"])))
        figure.table(("owner", "page", "fault", "first: suggested, ms", "load event, ms",
                      "second: shift, ms", "new suggestions"), rows)
        figure.report("campaign_advise_pages", sum(
            len(each["pages"]) for each in second.values()), "pages", f"== {PAGES}")
        faults = sum(fault_of(page) is not None for page in range(PAGES))
        figure.report("campaign_advise_faults_suggested", found, "pages", f"== {faults}")
        figure.report("campaign_advise_suggested_without_fault", false, "pages", "== 0")
        figure.report("campaign_advise_slower", len(slower), "pages", "== 1")
        self.assertEqual(slower, [WORSE])
        worse = OWNERS[WORSE % len(OWNERS)]
        self.assertEqual(second[worse]["pages"][0]["url"], url_of(WORSE))


if __name__ == "__main__":
    sys.argv[1:] = []
    harness.main()
