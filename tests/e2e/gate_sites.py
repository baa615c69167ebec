"""Sites whose loads differ in one thing, recorded by `reprise record`, for tests of `gate`."""

import gzip
import json
import random
import subprocess

import harness
from wire import Certificate, Origin, response

HOST = "gate.test"
URL = f"https://{HOST}/"


def noise(seed, size):
    """Bytes that do not compress."""
    return random.Random(seed).randbytes(size)


def words(seed, size):
    """Text that compresses to about a third."""
    chance = random.Random(seed)
    return b" ".join(b"%x" % chance.randrange(1 << 24) for _ in range(size // 7))


def picture(seed, size):
    """A file that counts as loaded: SVG with a comment of noise, in hex."""
    return (b"image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8">'
            b"<!--" + noise(seed, size // 2).hex().encode() + b"--></svg>")


class Site:
    """What an origin answers: `files` by path, (type, body). `gzipped`: text goes out coded;
    `html_delay`: called before a document is answered; `redirect`: `/` leads to `/home`."""

    def __init__(self, files, gzipped=True, html_delay=lambda: None, redirect=False):
        self.files = files
        self.gzipped = gzipped
        self.html_delay = html_delay
        self.redirect = redirect

    def answer(self, request):
        target = request.target
        if self.redirect and target == "/":
            return response(b"", b"302 Found", b"Location: /home\r\n")
        if target == "/home":
            target = "/"
        if target not in self.files:
            return response(b"", b"404 Not Found")
        kind, body = self.files[target]
        if kind == b"text/html":
            self.html_delay()
        headers = b"Content-Type: " + kind + b"\r\nCache-Control: no-store\r\n"
        if self.gzipped and kind.startswith(b"text/"):
            headers += b"Content-Encoding: gzip\r\n"
            body = gzip.compress(body, mtime=0)
        return response(body, headers=headers)


def chain_site(parallel):
    """The article's example: two scripts, one after the other or at the same time."""
    script = b"document.title += 'x';//" + noise(1, 3000).hex().encode()
    if parallel:
        body = b"<script src=/one.js></script><script src=/two.js></script>"
    else:
        body = (b"<script>const one = document.createElement('script'); one.src = '/one.js';"
                b"one.onload = () => { const two = document.createElement('script');"
                b"two.src = '/two.js'; document.head.append(two) };"
                b"document.head.append(one)</script>")
    page = b"<!doctype html><title>t</title><link rel=icon href=data:,>" + body
    return Site({"/": (b"text/html", page), "/one.js": (b"text/javascript", script),
                 "/two.js": (b"text/javascript", script)})


def plain_site(image_bytes=30_000, late_bytes=20_000, **options):
    """A page with a style, a script, four pictures, and one that is fetched after the load."""
    page = (b"<!doctype html><title>t</title><link rel=icon href=data:,>"
            b"<link rel=stylesheet href=/style.css><script src=/script.js></script>"
            + b"".join(b"<img src=/%d.svg>" % i for i in range(4)) +
            b"<script>addEventListener('load', () => setTimeout(() => { new Image().src ="
            b"'/late.svg' }, 200))</script><!--" + words(2, 60_000) + b"-->")
    files = {"/": (b"text/html", page),
             "/style.css": (b"text/css", b"/*" + words(3, 60_000) + b"*/"),
             "/script.js": (b"text/javascript", b"/*" + words(4, 60_000) + b"*/"),
             "/late.svg": picture(9, late_bytes)}
    for i in range(4):
        files[f"/{i}.svg"] = picture(10 + i, image_bytes if i == 0 else 30_000)
    return Site(files, **options)


def record(folder, name, site, quiet="500"):
    """The archive of `site`. `quiet`: how many ms without a request end the page."""
    tls = Certificate(folder / f"tls-{name}", (HOST,))
    origin = Origin(site.answer, names=(HOST,), tls=tls)
    archive = folder / f"{name}.reprise"
    try:
        done = harness.run("record", "-o", str(archive), "--browser", harness.BROWSER, "--quiet",
                           quiet, *origin.connect_arguments(), URL, folder=folder, timeout=120)
    finally:
        origin.close()
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    return archive


class Refused(AssertionError):
    """The two sides are not to be compared, such as behind a link that was late."""


def gate(folder, side_a, side_b, *arguments, timeout=1500, seed=1, noise_check=False, **options):
    """The verdict, as --json has it, and what was said meanwhile. `options`: of subprocess."""
    options.setdefault("env", harness.environment(folder))
    done = subprocess.run(
        [harness.REPRISE, "gate", side_a, side_b, "--json", "--seed", str(seed),
         *([] if noise_check else ["--skip-noise-check"]), *arguments],
        capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL, text=True, check=False,
        **options)
    if done.returncode not in (0, 5, 6):
        # Also where the time was up, or the loads, while the two sides were not comparable.
        is_refused = ("reprise: refused after" in done.stderr or
                      '"verdict":"refused"' in done.stdout)
        kind = Refused if is_refused else AssertionError
        raise kind(f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    verdict = json.loads(done.stdout)
    expected = {0: "same", 5: "different", 6: "undecided"}[done.returncode]
    assert verdict["verdict"] == expected, (done.returncode, verdict["verdict"])
    return verdict, done.stderr


def told(verdict):
    """One line on the first metric."""
    metric = verdict["pages"][0]["metrics"][0]
    low, high = (f"{metric[end]:+.1f}" if metric[end] is not None else "?"
                 for end in ("low", "high"))
    return (f"{verdict['verdict']}: {metric['metric']} {metric['median_a']:.1f} to "
            f"{metric['median_b']:.1f}, shift {metric['shift']:+.1f} ({low} to {high}), "
            f"{verdict['gate']['runs']} loads a side")
