#!/usr/bin/env python3
"""The check of the whole on its own output: a recording is imported and replayed as the origin, a
recorder records that while a client sends all its requests again, and the two archives are the
same but for times. A small recording always; those of REPRISE_CORPUS where that names a folder.

    tests/e2e/corpus_rerecord_test.py --table [FILE...]    the table of all files, or of these;
                                                           VERBOSE=1 names what differs
"""

import base64
import collections
import gzip
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import corpus_client
import figure
import harness

# What README.md says that replay changes: framing belongs to a connection, Alt-Svc leads away.
# Host follows the URL, and is none over h2; TE is for the next hop.
NOT_COMPARED = sorted(corpus_client.OF_A_CONNECTION | {
    "alt-svc", "content-length", "host", "proxy-authenticate", "proxy-authorization", "te"})


def shown(archive):
    """All exchanges, in the order of their requests."""
    listed = harness.run("archive", "ls", str(archive), "--json")
    count = len(json.loads(listed.stdout))
    return [shown_one(archive, number) for number in range(1, count + 1)]


def shown_one(archive, number):
    return json.loads(harness.run("archive", "show", str(archive), str(number), "--json").stdout)


class Rerecording:
    """Imports `recordings`, replays, records again, compares."""

    def __init__(self, case, folder, recordings):
        self.first = folder / "first.reprise"
        self.second = folder / "second.reprise"
        done = harness.run("archive", "import", *map(str, recordings), "-o", str(self.first),
                           "--keep-going", folder=folder, timeout=600)
        self.exchanges = []
        self.refused = "" if self.first.exists() else done.stderr.decode().strip()
        if not self.refused:
            self.exchanges = shown(self.first)
            self.walk(case, [each for each in self.exchanges if each["outcome"] == "complete"])
            self.compare()

    def walk(self, case, exchanges):
        # The session's number, so that an import that was damaged is served, too.
        origin = case.replay(self.first, "--session", "1", "--match", "exact",
                             "--topology", "single")
        rules = {}
        for exchange in exchanges:
            request = corpus_client.Request(exchange["request"], b"")
            address, port = origin.address("https" if request.scheme == "https" else "http")
            rules[request.port] = ("--connect-to", f":{request.port}:{address}:{port}")
        recorder = case.record(self.second, "--inject", "none", "--origin-ca", origin.ca_file,
                               *[word for rule in rules.values() for word in rule])
        walker = corpus_client.Walker(recorder.address("http"), recorder.address("https"),
                                      recorder.ca_file)
        failures = []
        for exchange in exchanges:
            body = b""
            if exchange["request"]["body"]["size_bytes"]:
                body = harness.run("archive", "cat", str(self.first), str(exchange["number"]),
                                   "--request").stdout
            try:
                walker.ask(corpus_client.Request(exchange["request"], body))
            except (OSError, EOFError, ValueError) as failure:
                failures.append(f"{exchange['request']['url']}: {failure}")
        walker.close()
        case.assertEqual(failures, [])
        case.assertEqual(recorder.stop(), 0, recorder.log())
        case.assertEqual(origin.stop(), 0, origin.log())

    def compare(self):
        ignored = [word for name in NOT_COMPARED for word in ("--ignore-header", name)]
        done = harness.run("archive", "diff", str(self.first), str(self.second), "--requests",
                           "--filter", "outcome=complete", "--json", *ignored)
        result = json.loads(done.stdout)
        self.equal = result["same"]
        self.not_served = sum(each["outcome"] != "complete" for each in self.exchanges)
        self.different = []
        for each in result["differences"]:
            found = each["differences"] or ["only in the first" if each["a"] else
                                            "only in the second"]
            if each["a"] and each["b"] and self.is_assumed(self.exchanges[each["a"] - 1]):
                found = self.differences_but_for_protocol(each)
            if not found:
                self.equal += 1
            else:
                self.different.append((each["a"], f"{each['method']} {each['url']}",
                                       [*found, *each.get("header_edits", ())]))

    def differences_but_for_protocol(self, pair):
        """And but for the case of field names, which the protocol decides, too."""
        a = self.exchanges[pair["a"] - 1]
        b = shown_one(self.second, pair["b"])

        def fields(exchange, side):
            return [(name.lower(), value) for name, value in exchange[side]["headers"]
                    if name.lower() not in NOT_COMPARED]

        renamed = {"protocol"}
        if fields(a, "request") == fields(b, "request"):
            renamed.add("request headers")
        if fields(a, "response") == fields(b, "response"):
            renamed.add("headers")
        return [name for name in pair["differences"] if name not in renamed]

    def is_assumed(self, exchange):
        """Whether a replay cannot speak what was spoken: a version that it does not have, or one
        that is not known, or one of two that a host spoke."""
        host = corpus_client.Request(exchange["request"], b"").place()
        spoken = {each["response"]["version"] for each in self.exchanges
                  if corpus_client.Request(each["request"], b"").place() == host}
        return len(spoken) > 1 or not spoken <= {"HTTP/1.1", "h2"}


def a_warc():
    """Requests and responses of the usual kinds, and one URL that is asked for twice."""
    records = []

    def add(kind, number, uri, block):
        fields = [b"WARC/1.1", b"WARC-Type: " + kind, b"WARC-Date: 2020-01-01T00:00:00Z",
                  b"WARC-Target-URI: " + uri, b"WARC-Record-ID: <urn:%b:%d>" % (kind, number)]
        if kind == b"response":
            fields.append(b"WARC-Concurrent-To: <urn:request:%d>" % number)
        records.append(b"\r\n".join([*fields, b"Content-Length: %d" % len(block), b"", block,
                                     b"", b""]))

    def exchange(request, response, host=b"a.test", scheme=b"https"):
        number = len(records)
        line, _, rest = request.partition(b"\r\n")
        path = line.split(b" ")[1]
        uri = scheme + b"://" + host + path
        add(b"request", number, uri, line + b" HTTP/1.1\r\nHost: " + host + b"\r\n" + rest)
        add(b"response", number, uri, b"HTTP/1.1 " + response)

    coded = gzip.compress(b"<p>coded</p>" * 50, mtime=0)
    exchange(b"GET /page\r\nAccept: text/html\r\nX-Odd: \xc3\xa9\r\n\r\n",
             b"200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n"
             b"Content-Length: %d\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n\r\n%b" %
             (len(coded), coded))
    exchange(b"POST /form?x=1\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\na=b&c",
             b"303 See Other\r\nLocation: /page\r\nContent-Length: 0\r\n\r\n")
    exchange(b"POST /form?x=1\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\na=b&d",
             b"200 Fine\r\nContent-Length: 2\r\n\r\nok")
    exchange(b"HEAD /page\r\n\r\n", b"200 OK\r\nContent-Length: 1234\r\n\r\n")
    exchange(b"GET /count\r\n\r\n", b"200 OK\r\nContent-Length: 1\r\n\r\n1")
    exchange(b"GET /count\r\n\r\n", b"200 OK\r\nContent-Length: 1\r\n\r\n2")
    exchange(b"GET /none\r\n\r\n", b"204 No Content\r\n\r\n")
    exchange(b'GET /same\r\nIf-None-Match: "1"\r\n\r\n',
             b'304 Not Modified\r\nETag: "1"\r\n\r\n')
    exchange(b"GET /part\r\nRange: bytes=2-3\r\n\r\n",
             b"206 Partial Content\r\nContent-Range: bytes 2-3/10\r\nContent-Length: 2\r\n\r\ncd")
    exchange(b"GET /lost\r\n\r\n", b"404 Not Found\r\nContent-Length: 4\r\n\r\nlost")
    exchange(b"GET /stream\r\n\r\n",
             b"200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 6\r\n\r\n")
    exchange(b"GET /clear\r\n\r\n", b"200 OK\r\nContent-Length: 5\r\n\r\nclear", b"b.test:8080",
             b"http")
    return b"".join(records)


def a_har():
    entry = {"startedDateTime": "2020-01-01T00:00:00Z",
             "request": {"method": "PUT", "url": "https://c.test/h2?a=%20", "httpVersion": "h2",
                         "headers": [{"name": "x-one", "value": "1"}],
                         "postData": {"mimeType": "", "text": base64.b64encode(b"\0up").decode(),
                                      "encoding": "base64"}},
             "response": {"status": 200, "statusText": "", "httpVersion": "h2",
                          "headers": [{"name": "content-type", "value": "text/plain"}],
                          "content": {"text": "spoken over h2"}}}
    return json.dumps({"log": {"version": "1.2", "entries": [entry]}}).encode()


class Rerecord(harness.TestCase):
    def test_what_is_recorded_of_a_replay_is_what_was_replayed(self):
        warc, har = self.folder / "a.warc", self.folder / "a.har"
        warc.write_bytes(a_warc())
        har.write_bytes(a_har())
        again = Rerecording(self, self.folder, [warc, har])
        self.assertEqual(again.different, [])
        self.assertEqual((again.equal, again.not_served), (13, 0))
        versions = {each["response"]["version"] for each in again.exchanges}
        self.assertEqual(versions, {"HTTP/1.1", "h2"})

    @unittest.skipUnless(os.environ.get("REPRISE_CORPUS"), "REPRISE_CORPUS names no folder")
    def test_real_recordings(self):
        for path in corpus_files():
            with self.subTest(path=str(path)):
                folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
                again = Rerecording(self, folder, [path])
                if not again.refused:
                    self.assertEqual(again.different, [])
                shutil.rmtree(folder)


def corpus_files():
    corpus = pathlib.Path(os.environ["REPRISE_CORPUS"])
    return [path for path in sorted(corpus.rglob("*"))
            if path.is_file() and "html5lib" not in str(path) and path.name != "INDEX.md"]


class Table(harness.TestCase):
    """Prints a row a file."""

    files = []

    def print_table(self):
        print("| file | exchanges | equal | not served | different |\n|---|---|---|---|---|")
        total = collections.Counter()
        for path in self.files:
            folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
            again = Rerecording(self, folder, [path])
            shutil.rmtree(folder)
            if again.refused:
                continue
            reasons = collections.Counter(str(found)[1:-1] for _, _, found in again.different)
            text = "; ".join(f"{count}: {reason}" for reason, count in reasons.items())
            name = "/".join(path.parts[-3:])
            print(f"| {name} | {len(again.exchanges)} | {again.equal} | {again.not_served} "
                  f"| {len(again.different)} {text} |", flush=True)
            if os.environ.get("VERBOSE"):
                for number, what, found in again.different:
                    print(f"    {number} {what[:150]}: {found}", flush=True)
            total.update(files=1, exchanges=len(again.exchanges), equal=again.equal,
                         not_served=again.not_served,
                         different=len(again.different))
        print(f"\n{total['files']} files: {total['equal']} of {total['exchanges']} exchanges "
              f"equal, {total['not_served']} not served (no response, or not a whole one)")
        figure.report("corpus_exchanges_that_differ", total["different"], "exchanges", "== 0")


if __name__ == "__main__":
    if "--table" in sys.argv:
        at = sys.argv.index("--table")
        if at + 1 == len(sys.argv) and not os.environ.get("REPRISE_CORPUS"):
            figure.report("corpus_not_there", 1, "", None)
            sys.exit()
        Table.files = [pathlib.Path(name) for name in sys.argv[at + 1:]] or corpus_files()
        sys.exit(not unittest.TextTestRunner().run(Table("print_table")).wasSuccessful())
    harness.main()
