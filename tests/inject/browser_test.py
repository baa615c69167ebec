#!/usr/bin/env python3
"""In Chromium: under every policy our script runs, first, and nothing else runs or is reported that
did not and was not; encodings and trees are the same with and without the script.

Each page is loaded twice in frames of one document, as it is and rewritten (by rewrite_response,
whose path is in REWRITE_RESPONSE). Frames tell their parent what ran; reports come to the server.
"""

import base64
import collections
import hashlib
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

BROWSER = shutil.which("chromium-headless-shell")
OURS = "parent.postMessage([location.pathname, 'ours'], '*')"
PLAIN = "parent.postMessage([location.pathname, 'plain'], '*')"
PLAIN_HASH = "'sha256-%s'" % base64.b64encode(hashlib.sha256(PLAIN.encode()).digest()).decode()

# What a policy can let run: a plain inline script, one with a nonce (and eval in it), one that it
# adds to the document, an external one, an event handler, a javascript: address, a style.
PAGE = f"""<!doctype html><html><head><title>x</title><script>{PLAIN}</script>
<script nonce="R4nd0m">parent.postMessage([location.pathname, 'nonce'], '*');
var s = document.createElement('script'); s.src = '/external.js?added'; document.head.append(s);
try {{ eval("parent.postMessage([location.pathname, 'eval'], '*')"); }} catch (e) {{}}
try {{ new Worker('/worker.js'); parent.postMessage([location.pathname, 'worker'], '*'); }}
catch (e) {{}}</script>
<script src="/external.js?plain"></script><style>body {{ color: rgb(1, 2, 3) }}</style></head>
<body onload="parent.postMessage([location.pathname, 'handler'], '*')">
<p style="color: rgb(4, 5, 6)">x</p><img src="/missing.png" alt=""></body></html>"""

NONCE = "'nonce-R4nd0m'"
POLICIES = [
    "img-src *", "object-src 'none'", "script-src-attr 'none'", "worker-src 'none'",
    "script-src 'unsafe-inline'", "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
    "default-src 'unsafe-inline'", "default-src * 'unsafe-inline' 'unsafe-eval' data: blob:",
    "script-src 'none'; script-src-elem 'unsafe-inline'",
    "default-src 'none'; script-src 'unsafe-inline'", "script-src 'unsafe-inline' 'nonce-'",
    f"script-src {NONCE}", f"script-src 'self' {NONCE}", f"default-src {NONCE}",
    f"default-src 'self' {NONCE}; style-src 'unsafe-inline'",
    f"script-src 'strict-dynamic' {NONCE} 'unsafe-inline' https:",
    f"script-src 'strict-dynamic' {NONCE} 'unsafe-eval'", f"script-src 'none' {NONCE}",
    f"script-src 'none'; script-src-elem {NONCE}", f"script-src-elem {NONCE}; script-src 'self'",
    f"script-src {PLAIN_HASH}", f"script-src 'unsafe-inline' {PLAIN_HASH}",
    f"script-src 'strict-dynamic' {PLAIN_HASH}", f"default-src {PLAIN_HASH}",
    f"script-src 'unsafe-hashes' {PLAIN_HASH}", f"script-src {PLAIN_HASH} {NONCE}",
    "script-src 'self'", "script-src 'self';", "SCRIPT-SRC https: ; img-src *", "script-src *",
    "script-src-elem 'self'; script-src 'unsafe-inline'",
    "script-src 'unsafe-eval'; default-src 'unsafe-inline'",
    "script-src 'self'; script-src 'unsafe-inline'", "script-src 'strict-dynamic'",
    "script-src 'strict-dynamic' 'unsafe-inline'", "script-src 'unsafe-hashes'",
    "script-src 'report-sample' 'self'", "script-src 'none'", "script-src", "script-src; img-src *",
    "script-src-elem 'none'; script-src *", "script-src 'none' 'self'", "default-src 'self'",
    "default-src 'self'; style-src 'unsafe-inline'", "default-src 'none'", "default-src",
    "default-src 'strict-dynamic' 'unsafe-inline'", "img-src 'none'; default-src 'self' data:",
    "default-src 'self'; script-src-attr 'unsafe-inline'",
    "sandbox allow-scripts allow-same-origin; default-src 'self'",
    "sandbox allow-scripts; script-src 'none'",
    f"require-trusted-types-for 'script'; script-src {NONCE}",
    "require-trusted-types-for 'script'; trusted-types a; script-src 'self'",
    "script-src 'self', default-src 'none'", f"script-src {NONCE}, script-src 'self'",
    f"script-src 'self', script-src {NONCE}", f"script-src {NONCE}, script-src 'nonce-other'",
    "img-src *, script-src 'unsafe-inline'", f"script-src {NONCE}, default-src {PLAIN_HASH}",
    f"ScRiPt-SrC 'NoNcE-R4nd0m'", f"script-src {NONCE} {NONCE}; script-src 'none'",
    "script-src 'sha256-AAAA'", "default-src 'self'; default-src *", "; ;; , ;, ,",
    "script-src 'unsafe-inline' 'nonce-!!'", "script-src\t'self'\t'unsafe-eval'",
    "script_src 'none'",
    "script-src 'self' 'wasm-unsafe-eval' 'inline-speculation-rules' foo 'bar'",
    f"script-src-elem {PLAIN_HASH} 'unsafe-inline'; default-src 'none'",
    "trusted-types 'none'; require-trusted-types-for 'script'",
    "script-src 'nonce-a', script-src 'nonce-b' 'strict-dynamic', default-src 'self'",
    f"script-src 'strict-dynamic' {NONCE}; script-src-elem 'none'", "script-src 'NONE'",
    f"default-src {NONCE}; script-src-elem 'unsafe-inline'", "sandbox allow-scripts",
    f"SANDBOX ALLOW-SCRIPTS; script-src {NONCE}", "script-src 'none', sandbox allow-scripts",
    "sandbox", "sandbox allow-same-origin; script-src 'self'",
]
NO_SCRIPTS = 2  # the last ones: nothing runs, nothing is put in

TELL = ("<script>parent.postMessage([location.pathname, document.characterSet + ' ' + "
        "document.compatMode + ' ' + document.body.textContent], '*')</script>")


def encoded(codec, text, type_="text/html", before="", doctype="<!doctype html>"):
    page = f"{doctype}<html><head>{before}<title>x</title></head><body><p>{text}</p>{TELL}"
    return {"Content-Type": type_}, page.encode(codec)


def charset_pages():
    russian, chinese, korean, japanese = "Привет, мир", "你好，世界", "안녕하세요", "こんにちは"
    meta = "<meta charset={}>".format
    hidden = "<script>var x = 1</script>" + meta("{}")
    http_equiv = "<meta http-equiv=Content-Type content='text/html; charset=gb2312'>"
    return [
        encoded("utf-8", russian, "text/html; charset=utf-8"),
        encoded("utf-8", russian, before=meta("utf-8")),
        encoded("utf-8-sig", russian),
        encoded("utf-8-sig", russian, "text/html; charset=windows-1251"),
        encoded("cp1251", russian, "text/html; charset=windows-1251"),
        encoded("cp1251", russian, before=meta("windows-1251")),
        encoded("cp1251", russian, before=hidden.format("windows-1251")),
        encoded("cp1251", russian, before="<link rel=icon href=/i>" + meta("cp1251"), doctype=""),
        encoded("koi8-r", russian, before="<style></style>" + meta("koi8-r")),
        encoded("gb2312", chinese, before=http_equiv),
        encoded("gbk", chinese, "text/html; charset=gbk"),
        encoded("gb18030", chinese, before=hidden.format("gb18030")),
        encoded("big5", "你好", before=meta("big5")),
        encoded("euc-kr", korean, "text/html; charset=euc-kr"),
        encoded("euc-kr", korean, before=hidden.format("euc-kr")),
        encoded("euc-jp", japanese, before=meta("euc-jp")),
        encoded("shift_jis", japanese, before=meta("shift_jis")),
        encoded("iso-2022-jp", japanese, "text/html; charset=iso-2022-jp"),
        encoded("iso-2022-jp", japanese, before="<!-- 日 -->" + meta("iso-2022-jp")),
        encoded("utf-16", russian),
        encoded("utf-16-le", russian, "text/html; charset=utf-16le"),
        encoded("utf-16-be", russian, "text/html; charset=utf-16be"),
        encoded("utf-8", russian, before=hidden.format("utf-16")),
        encoded("latin-1", "déjà vu"),
        encoded("cp1251", russian, before="<!-- " + "x" * 1100 + " -->" + meta("windows-1251")),
    ]


XML_TELL = ("<script xmlns='http://www.w3.org/1999/xhtml'>parent.postMessage([location.pathname, "
            "document.characterSet + document.querySelectorAll('*').length], '*')</script>")
XML_PAGES = [
    ({"Content-Type": "application/xhtml+xml"},
     ("<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head><title>x</title>"
      f"</head><body>{XML_TELL}</body></html>").encode()),
    ({"Content-Type": "image/svg+xml"},
     f"<svg xmlns='http://www.w3.org/2000/svg'><g/>{XML_TELL}</svg>".encode()),
    ({"Content-Type": "text/xml"},
     ("<?xml version='1.0' encoding='utf-16'?><s:svg xmlns:s='http://www.w3.org/2000/svg'>"
      f"{XML_TELL}</s:svg>").encode("utf-16")),
]


def rewritten(headers, body):
    lines = "".join(f"{name}: {value}\n" for name, value in headers.items())
    done = subprocess.run([os.environ["REWRITE_RESPONSE"], OURS],
                          input=lines.encode() + b"\n" + body, capture_output=True, check=False)
    if done.returncode == 3:
        return headers, body
    done.check_returncode()
    head, _, body = done.stdout.partition(b"\n\n")
    return dict(line.split(": ", 1) for line in head.decode().split("\n")), body


def all_pages():
    pages = {}
    for number, policy in enumerate(POLICIES):
        meta = f'<meta http-equiv=Content-Security-Policy content="{policy}">'
        page = ({"Content-Type": "text/html; charset=utf-8"},
                PAGE.replace("<head>", "<head>" + meta).encode())
        pages[f"/old/meta/{number}"] = page
        pages[f"/new/meta/{number}"] = rewritten(*page)
        for field, name in (("Content-Security-Policy", "csp"),
                            ("Content-Security-Policy-Report-Only", "report-only")):
            for form in ("old", "new"):
                path = f"/{form}/{name}/{number}"
                reporting = ",".join(f"{one}; report-uri /report{path}"
                                     for one in policy.split(","))
                headers = {"Content-Type": "text/html; charset=utf-8", field: reporting}
                page = (headers, PAGE.encode())
                pages[path] = rewritten(*page) if form == "new" else page
    for kind, some in (("charset", charset_pages()), ("xml", XML_PAGES)):
        for number, page in enumerate(some):
            pages[f"/old/{kind}/{number}"] = page
            pages[f"/new/{kind}/{number}"] = rewritten(*page)
    return pages


def runs_ours(kind, number):
    """Whether our script is due in the rewritten form of that page."""
    return kind != "csp" or number < len(POLICIES) - NO_SCRIPTS


def pairs_of(pages):
    """[path as it is, path rewritten, how many messages more the second sends]"""
    for path in pages:
        _, form, kind, number = path.split("/")
        if form == "old":
            yield path, f"/new/{kind}/{number}", int(runs_ours(kind, int(number)))


# Both frames of a pair at once, three pairs at a time. A page sends its messages before the load
# event of its frame, and ours to ourselves comes behind them; where the two have not told as much
# as they should, that is waited for, in all for five minutes. Frames stay until twelve more pairs
# have been visited: a report may be sent late.
INDEX = """<!doctype html><meta charset=utf-8><script>
const told = {}, fences = [], kept = [];
let patience = 300000;
addEventListener('message', ({ data: [path, what] }) => {
  if (path === 'fence') fences.shift()();
  else (told[path] ??= []).push(what);
});
const count = path => (told[path] ?? []).length;
const fence = () => new Promise(done => {
  fences.push(done);
  postMessage(['fence'], '*');
});
async function frameOf(path) {
  const frame = document.createElement('iframe');
  const loaded = new Promise(done => frame.onload = done);
  frame.src = path;
  document.body.append(frame);
  await loaded;
  return frame;
}
async function wait(isDone) {
  const began = performance.now(), longest = Math.min(patience, 60000);
  while (!isDone() && performance.now() - began < longest) {
    await new Promise(done => setTimeout(done, 5));
  }
  patience -= performance.now() - began;
}
function tellStyles(path, frame) {
  try {
    const inside = frame.contentDocument;
    const color = e => e && frame.contentWindow.getComputedStyle(e).color;
    (told[path] ??= []).push('styles ' + color(inside.body) + color(inside.querySelector('p')));
  } catch (e) {}
}
async function visit([old, changed, more]) {
  const frames = await Promise.all([frameOf(old), frameOf(changed)]);
  await fence();
  await wait(() => count(changed) === count(old) + more);
  tellStyles(old, frames[0]);
  tellStyles(changed, frames[1]);
  kept.push(frames);
  if (kept.length > 12) kept.shift().forEach(frame => frame.remove());
}
addEventListener('load', async () => {
  const queue = %s;
  const walk = async () => { while (queue.length) await visit(queue.shift()); };
  await Promise.all([walk(), walk(), walk()]);
  await fetch('/told', {method: 'POST', body: JSON.stringify(told)});
});
</script><body></body>"""


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, pages):
        super().__init__(("127.0.0.1", 0), Answer)
        self.pages = pages
        self.reports = collections.defaultdict(collections.Counter)
        self.told = None
        self.finished = threading.Event()
        self.reported = threading.Condition()

    def wait_for_reports(self):
        """Browsers send them behind all else: until they are as they should be, or for a while."""
        def are_alike():
            return all(self.reports[path] == self.reports[path.replace("old", "new", 1)]
                       for path in list(self.pages) if path.startswith("/old/"))
        with self.reported:
            self.reported.wait_for(are_alike, timeout=60)


class Answer(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, headers, body, status=200):
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() != "content-length":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/":
            page = INDEX % json.dumps(list(pairs_of(self.server.pages)))
            self.answer({"Content-Type": "text/html"}, page.encode())
        elif path in self.server.pages:
            self.answer(*self.server.pages[path])
        elif path == "/external.js":
            which = self.path.split("?")[1]
            text = f"parent.postMessage([location.pathname, 'external {which}'], '*')"
            self.answer({"Content-Type": "text/javascript"}, text.encode())
        elif path == "/worker.js":
            self.answer({"Content-Type": "text/javascript"}, b"1")
        else:
            self.answer({}, b"", 404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer({}, b"", 204)
        if self.path == "/told":
            self.server.told = body
            self.server.finished.set()
        else:
            report = body["csp-report"]
            key = (report["effective-directive"], report["blocked-uri"], report["disposition"])
            with self.server.reported:
                self.server.reports[self.path.removeprefix("/report")][key] += 1
                self.server.reported.notify_all()


@unittest.skipUnless(BROWSER, "no chromium-headless-shell")
class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(all_pages())
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory() as profile:
            command = [BROWSER, "--headless", "--disable-gpu", "--remote-debugging-port=0",
                       f"--user-data-dir={profile}",
                       f"http://127.0.0.1:{cls.server.server_address[1]}/"]
            if os.geteuid() == 0:
                command.insert(1, "--no-sandbox")
            # Debian's program is a shell that waits for the browser: a session, to end both.
            browser = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
            try:
                if not cls.server.finished.wait(timeout=1500):
                    raise AssertionError("the browser did not finish")
                cls.server.wait_for_reports()
            finally:
                os.killpg(browser.pid, signal.SIGKILL)
                browser.wait()
        cls.server.shutdown()

    def pairs(self, kind):
        for path in self.server.pages:
            if path.startswith(f"/old/{kind}/"):
                new = path.replace("old", "new", 1)
                yield path, new, self.server.told.get(path, []), self.server.told.get(new, [])

    def test_policies_let_our_script_run_first_and_nothing_else(self):
        ran = collections.Counter()
        for kind in ("csp", "report-only", "meta"):
            for path, _, old, new in self.pairs(kind):
                number = int(path.rsplit("/", 1)[1])
                policy = POLICIES[number]
                expected = collections.Counter(old)
                if runs_ours(kind, number):
                    expected["ours"] += 1
                    self.assertEqual(new[:1], ["ours"], policy)
                self.assertEqual(collections.Counter(new), expected, policy)
                ran.update(set(old))
        # Each kind of thing was let through somewhere, or this would compare nothing with nothing.
        for what in ("plain", "nonce", "external plain", "external added", "eval", "handler",
                     "worker", "styles rgb(1, 2, 3)rgb(4, 5, 6)"):
            self.assertGreater(ran[what], 3, what)

    def test_policies_report_what_they_reported(self):
        for kind in ("csp", "report-only"):
            for path, new_path, _, _ in self.pairs(kind):
                self.assertEqual(self.server.reports[new_path], self.server.reports[path],
                                 POLICIES[int(path.rsplit("/", 1)[1])])
        self.assertGreater(sum(len(some) for some in self.server.reports.values()), 100)

    def test_encodings_and_modes_are_the_same(self):
        for path, new_path, old, new in self.pairs("charset"):
            self.assertEqual(len(old), 2, path)  # what the page tells, and its styles
            self.assertEqual(new, ["ours"] + old, self.server.pages[new_path])

    def test_xml_documents_run_it_first(self):
        for path, _, old, new in self.pairs("xml"):
            self.assertEqual(new[0], "ours", path)
            tree = old[0].rstrip("0123456789")
            self.assertEqual(new[1], tree + str(int(old[0][len(tree):]) + 1), path)


if __name__ == "__main__":
    if not BROWSER or "REWRITE_RESPONSE" not in os.environ:
        print("skipped: chromium-headless-shell or REWRITE_RESPONSE is missing")
        sys.exit(77)
    unittest.main(verbosity=1)
