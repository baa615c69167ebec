#!/usr/bin/env python3
"""reprise archive export: what curl made a recorder record leaves as HAR, WARC and .wprgo, other
programs read it, it comes back, and what was lost is said."""

import base64
import gzip
import hashlib
import json
import signal
import subprocess

import harness
from wire import response

PAGE = b"<!doctype html><title>caf\xc3\xa9</title>"


def records_of(warc):
    """(fields, block) of each record, by the lengths that they state."""
    while warc:
        head, _, rest = warc.partition(b"\r\n\r\n")
        version, *lines = head.decode().split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines)
        length = int(fields["Content-Length"])
        if version != "WARC/1.1" or rest[length:length + 4] != b"\r\n\r\n":
            raise AssertionError(f"no record: {head!r}")
        yield fields, rest[:length]
        warc = rest[length + 4:]


class Export(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"

    def record_a_page(self):
        origin = self.origin(lambda request: response(gzip.compress(PAGE, mtime=0), headers=(
            b"Content-Type: text/html\r\nContent-Encoding: gzip\r\nX-Odd: \xff\r\n")))
        recorder = self.record(self.archive, "--inject", "none", origins=[origin])
        with recorder.connect("http") as client:
            client.get("/page?a=1", headers=b"Cookie: a=1; b=2\r\n")
            client.get("/page?a=2")
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def export(self, target, name, *arguments):
        return harness.run("archive", "export", "--to", target, str(self.archive), "-o",
                           str(self.folder / name), *arguments)

    def exported(self, target, name, *arguments):
        done = self.export(target, name, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.folder / name).read_bytes()

    def test_a_har_is_json_that_holds_the_decoded_page(self):
        self.record_a_page()
        log = json.loads(self.exported("har", "a.har"))["log"]
        self.assertEqual((log["version"], log["creator"]["name"]), ("1.2", "reprise"))
        first, second = log["entries"]
        self.assertLess(first["startedDateTime"], second["startedDateTime"])
        self.assertEqual(first["request"]["queryString"], [{"name": "a", "value": "1"}])
        self.assertEqual([each["name"] for each in first["request"]["cookies"]], ["a", "b"])
        self.assertEqual(first["response"]["content"]["text"].encode(), PAGE)
        self.assertGreater(first["time"], 0)
        self.assertEqual(first["serverIPAddress"], "127.0.0.1")

    def test_a_wprgo_is_what_web_page_replay_writes(self):
        self.record_a_page()
        text = gzip.decompress(self.exported("wprgo", "a.wprgo"))
        archive = json.loads(text)
        self.assertEqual(list(archive), [
            "Requests", "Certs", "NegotiatedProtocol", "DeterministicTimeSeedMs",
            "ServeResponseInChronologicalSequence", "CurrentSessionId", "DisableFuzzyURLMatching"])
        entries = archive["Requests"]["origin.test"]["http://origin.test/page?a=1"]
        self.assertEqual(list(entries[0]), ["SerializedRequest", "SerializedResponse",
                                            "LastServedSessionId"])
        request = base64.b64decode(entries[0]["SerializedRequest"], validate=True)
        self.assertEqual(request, b"GET /page?a=1 HTTP/1.1\r\nHost: origin.test\r\n"
                                  b"Cookie: a=1; b=2\r\n\r\n")
        reply = base64.b64decode(entries[0]["SerializedResponse"], validate=True)
        head, _, body = reply.partition(b"\r\n\r\n")
        self.assertTrue(head.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"), head)
        self.assertEqual(gzip.decompress(body), PAGE)

    def test_a_warc_is_compressed_by_its_suffix_and_reads_back(self):
        self.record_a_page()
        plain = self.exported("warc", "a.warc")
        packed = self.exported("warc", "a.warc.gz")
        self.assertEqual(gzip.decompress(packed), plain)
        records = list(records_of(plain))
        self.assertEqual([fields["WARC-Type"] for fields, _ in records],
                         ["warcinfo", "request", "response", "request", "response"])
        for fields, block in records:
            self.assertEqual(fields["WARC-Block-Digest"],
                             "sha256:" + hashlib.sha256(block).hexdigest())
            if fields["WARC-Type"] == "response":
                head, _, payload = block.partition(b"\r\n\r\n")
                self.assertTrue(head.startswith(b"HTTP/1.1 200 OK\r\n"), head)
                self.assertEqual(fields["WARC-Payload-Digest"],
                                 "sha256:" + hashlib.sha256(payload).hexdigest())
                self.assertEqual(gzip.decompress(payload), PAGE)
        again = self.folder / "b.reprise"
        done = harness.run("archive", "import", str(self.folder / "a.warc.gz"), "-o", str(again))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_sound(again)
        for number in ("1", "2"):
            before, after = (harness.run("archive", "cat", str(archive), number).stdout
                             for archive in (self.archive, again))
            self.assertEqual(before, after)

    def test_what_is_lost_is_said(self):
        self.record_a_page()
        done = self.export("har", "a.har")
        self.assertIn(b"2 exchanges, 2 with a body", done.stderr)
        self.assertIn(b"2 compressed bodies are written decoded", done.stderr)
        self.assertIn(b"2 texts contain bytes that the format cannot hold", done.stderr)
        report = json.loads(self.export("wprgo", "a.wprgo", "--json").stdout)
        self.assertEqual((report["exchanges"], report["lost"]["times"]), (2, 2))

    def test_a_wprgo_has_no_exchange_without_a_response(self):
        """Web Page Replay injects nothing into an archive that has one."""
        har = self.folder / "failed.har"
        har.write_text(json.dumps({"log": {"entries": [
            {"request": {"method": "GET", "url": f"http://a.test/{status}"},
             "response": {"status": status, "content": {"size": 0}}} for status in (204, 0)]}}))
        done = harness.run("archive", "import", str(har), "-o", str(self.archive))
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.export("wprgo", "a.wprgo")
        self.assertIn(b"1 exchange has no response and is not written", done.stderr)
        archive = json.loads(gzip.decompress((self.folder / "a.wprgo").read_bytes()))
        self.assertEqual(list(archive["Requests"]["a.test"]), ["http://a.test/204"])
        report = json.loads(self.export("wprgo", "b.wprgo", "--json").stdout)
        self.assertEqual((report["exchanges"], report["lost"]["failed"]), (1, 1))

    def test_what_cannot_be_ends_with_a_reason_and_no_file(self):
        self.record_a_page()
        done = self.export("har", "a.har", "--session", "7")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"the archive has no session 7", done.stderr)
        self.assertFalse((self.folder / "a.har").exists())
        self.assertEqual(self.export("pdf", "a.pdf").returncode, 2)
        (self.folder / "b.har").write_bytes(b"mine")
        done = self.export("har", "b.har")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"already exists", done.stderr)
        self.assertEqual((self.folder / "b.har").read_bytes(), b"mine")

    def test_an_export_that_is_stopped_leaves_no_file(self):
        warc = self.folder / "long.warc"
        block = b"HTTP/1.1 200 OK\r\n\r\n"
        record = (b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
                  b"WARC-Target-URI: http://a.test/\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" %
                  (len(block), block))
        warc.write_bytes(record * 100_000)
        done = harness.run("archive", "import", str(warc), "-o", str(self.archive))
        self.assertEqual(done.returncode, 0, done.stderr)
        out = self.folder / "a.warc.gz"
        process = subprocess.Popen(
            [harness.REPRISE, "archive", "export", "--to", "warc", str(self.archive), "-o",
             str(out)], stderr=subprocess.PIPE)
        for _ in harness.watch_folder(self.folder, process.pid):
            if out.exists():
                break
        process.send_signal(signal.SIGTERM)
        _, complaints = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, complaints)
        self.assertIn(b"interrupted; the incomplete file was removed", complaints)
        self.assertFalse(out.exists())


if __name__ == "__main__":
    harness.main()
