"""What the tests of campaigns share: archives of small pages, campaign files, and results of shards
that nobody measured, for what does not need a browser."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess

import harness
from wire import response

BROWSER = shutil.which(harness.BROWSER)
HTML = b"Content-Type: text/html\r\n"
SECONDS = 600


def answer(request):
    if request.target.endswith(".js"):
        return response(b"document.title += '!';", headers=b"Content-Type: text/javascript\r\n")
    if request.target == "/":
        return response(b"<!doctype html><title>page</title><link rel=icon href=data:,>"
                        b"<script src=/a.js></script><p>page", headers=HTML)
    return response(b"none", b"404 Not Found")


def shard_header(digest, **members):
    return {"schema": "reprise-shard/1", "plan": digest, "shard": 1, "node": "n0", "seconds": 9,
            "records": 0, "loads": 1, "failed": 0, "finished_unix_ms": 1e12, "reprise": "0.1.0",
            **members}


class CampaignCase(harness.TestCase):
    """Has a folder with archives, and runs commands with its own data folder and TMPDIR: that has
    the lock by which a node runs one shard at a time."""

    def setUp(self):
        super().setUp()
        self.plan = self.folder / "plan"
        self.environment = {**os.environ, "XDG_DATA_HOME": str(self.folder / "data"),
                            "XDG_CACHE_HOME": str(self.folder / "cache"),
                            "TMPDIR": str(self.short_folder())}

    def record_pages(self, count):
        """Archives p0.reprise, ... of pages that request the same; once for each test."""
        archives = self.folder / "corpus"
        if archives.exists():
            return archives
        archives.mkdir()
        origin = self.origin(answer)
        first = archives / "p0.reprise"
        recorder = self.record(first, origins=[origin])
        for path in ("/", "/a.js"):
            with recorder.connect("http", harness.HOST) as client:
                client.get(path, harness.HOST)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        for number in range(1, count):
            shutil.copy(first, archives / f"p{number}.reprise")
        return archives

    def campaign(self, **members):
        """A file; the URL of each page is given to `load`, since nobody recorded a start URL."""
        whole = {"schema": "reprise-campaign/1", "name": "test", **members}
        path = self.folder / "campaign.json"
        path.write_text(json.dumps(whole))
        return path

    def recorded_shard(self, page, **members):
        """The folder of the first shard, which recorded `page`; `members`: of its header."""
        shard = self.plan / "results" / "000001"
        shard.mkdir()
        (shard / "shard.json").write_text(
            json.dumps(shard_header(self.digest(), **members)) + "\n")
        (shard / "corpus.json").write_text(
            json.dumps({"schema": "reprise-corpus/1", "pages": [page]}))
        return shard

    def plan_pages(self, count, **members):
        archives = self.record_pages(count)
        file = self.campaign(archives=[str(archives)], browsers=[BROWSER],
                             flags=[f"http://{harness.HOST}/", "--quiet", "100",
                                    "--settle", "100"], **members)
        return self.run_campaign("plan", file, "-o", self.plan)

    def run_campaign(self, *arguments, expect=0, environment=None, timeout=SECONDS, **options):
        done = subprocess.run([harness.REPRISE, "campaign", *map(str, arguments)],
                              capture_output=True, timeout=timeout, check=False,
                              env=environment or self.environment, **options)
        if expect is not None:
            self.assertEqual(done.returncode, expect, done.stderr.decode() + done.stdout.decode())
        return done

    def digest(self):
        return hashlib.sha256((self.plan / "plan.json").read_bytes()).hexdigest()[:16]

    def status(self):
        return json.loads(self.run_campaign("status", self.plan, "--json").stdout)


def simulated_load(url, run, link, milliseconds, requests, warm_up=False):
    return {"url": url, "run": run, "warm_up": warm_up, "outcome": "loaded", "failure": "",
            "configuration": {"browser": "chromium", "protocol": "recorded", "link": link,
                              "cache": "cold"},
            "load_event_ms": milliseconds, "replay": None,
            "requests": [{"url": f"{url}{number}", "method": "GET", "status": 200,
                          "start_ms": number, "end_ms": number + 5} for number in range(requests)]}


def simulate(plan_folder, node_of, milliseconds_of, requests=3, skip=()):
    """Writes the results of all shards but `skip`, as nodes would have left them."""
    plan_folder = pathlib.Path(plan_folder)
    text = (plan_folder / "plan.json").read_bytes()
    plan = json.loads(text)
    digest = hashlib.sha256(text).hexdigest()[:16]
    campaign = plan["campaign"]
    for number, shard in enumerate(plan["shards"], 1):
        if number in skip:
            continue
        node = node_of(number)
        lines, loads = [], 0
        for part in shard["parts"]:
            url = f"https://p{part['page']}.test/"
            for side in campaign["sides"]:
                measured = []
                for run in range(part["runs"] + 1):
                    for link in part["links"]:
                        measured.append(simulated_load(
                            url, run, link, milliseconds_of(node, side["name"], number, run),
                            requests, warm_up=run == 0))
                loads += part["runs"] * len(part["links"])
                lines.append({"page": part["page"], "first_run": part["first_run"],
                              "side": side["name"]})
                lines.append({"schema": "reprise-load/1", "archive": plan["pages"][part["page"]]
                              ["source"], "archive_sha256": "aa", "seed": 1, "browsers": [
                                  {"name": "chromium", "version": "Chrome/156", "flags": []}],
                              "loads": measured, "replays": []})
        header = shard_header(digest, shard=number, node=node, seconds=250,
                              records=len(lines) // 2, loads=loads)
        path = plan_folder / "results" / f"{number:06}.json"
        path.write_text("".join(json.dumps(line) + "\n" for line in [header, *lines]))
