#!/usr/bin/env python3
"""reprise archive import: recordings of other tools, replayed to curl; how it ends on damage; and
where REPRISE_CORPUS names a folder of real ones, that each of them comes back as it was stored."""

import base64
import gzip
import json
import os
import pathlib
import signal
import subprocess
import unittest
import unittest.mock

import harness

PAGE = b"<!doctype html><title>imported</title>"


def wprgo():
    request = b"GET /page HTTP/1.1\r\nHost: a.test\r\n\r\n"
    response = (b"HTTP/2.0 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n"
                b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(PAGE, mtime=0))
    entry = {"SerializedRequest": base64.b64encode(request).decode(),
             "SerializedResponse": base64.b64encode(response).decode()}
    archive = {"Requests": {"a.test": {"https://a.test/page": [entry]}},
               "NegotiatedProtocol": {"a.test": "h2"}, "DeterministicTimeSeedMs": 1500000000000}
    return gzip.compress(json.dumps(archive).encode(), mtime=0)


def har(content, version="h2"):
    entry = {"startedDateTime": "2020-01-01T00:00:00Z",
             "request": {"method": "GET", "url": "https://a.test/page", "httpVersion": version,
                         "headers": []},
             "response": {"status": 200, "statusText": "", "httpVersion": version, "headers": [
                 {"name": "content-encoding", "value": "br"},
                 {"name": "content-length", "value": "7"}], "content": content}}
    return json.dumps({"log": {"version": "1.2", "entries": [entry]}}).encode()


def warc(uri=b"https://a.test/page"):
    block = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + PAGE
    return (b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
            b"WARC-Target-URI: %b\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" %
            (uri, len(block), block))


def mahimahi():
    def field(number, content):
        return bytes([number << 3 | 2, len(content)]) + content  # of less than 128 bytes
    header = field(1, b"Host") + field(2, b"a.test")
    length = field(1, b"Content-Length") + field(2, b"%d" % len(PAGE))
    return (field(1, b"192.0.2.1") + b"\x10\xbb\x03" + b"\x18\x02"  # port 443, https
            + field(4, field(1, b"GET /page HTTP/1.1") + field(2, header))
            + field(5, field(1, b"HTTP/1.1 200 OK") + field(2, length) + field(3, PAGE)))


class Import(harness.TestCase):
    def import_all(self, *files, archive="a.reprise", arguments=()):
        return harness.run("archive", "import", *map(str, files), "-o",
                           str(self.folder / archive), *arguments, folder=self.folder)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def fetch(self, archive, url):
        """What curl gets of a replay: the head, the body, the decoded body."""
        replay = self.replay(archive)
        host, port = replay.address("https")
        seen = []
        for decode in ((), ("--compressed",)):
            done = subprocess.run(
                ["curl", "-sSi", *decode, "--cacert", replay.ca_file, "--connect-to",
                 f"::{host}:{port}", url], capture_output=True, timeout=30, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            seen.append(done.stdout.partition(b"\r\n\r\n"))
        self.assertEqual(replay.stop(), 0)
        return seen[0][0], seen[0][2], seen[1][2]

    def test_every_kind_replays(self):
        self.write("attached.html", PAGE)
        recordings = {
            "a.wprgo": wprgo(),
            "text.har": har({"size": len(PAGE), "text": PAGE.decode()}),
            "file.har": har({"size": len(PAGE), "_file": "attached.html"}),
            "plain.warc": warc(),
            "a.warc.gz": gzip.compress(warc(), mtime=0),
        }
        for name, content in recordings.items():
            with self.subTest(name=name):
                path = self.write("no suffix", content)
                archive = self.folder / (name + ".reprise")
                done = self.import_all(path, archive=archive)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(b"1 exchange, 1 with a body", done.stderr)
                self.assert_sound(archive)
                head, _, page = self.fetch(archive, "https://a.test/page")
                self.assertEqual(page, PAGE)
                self.assertTrue(head.startswith(b"HTTP/1.1 200" if "warc" in name
                                                else b"HTTP/2 200"), head)

    def test_a_recording_stands_where_an_archive_is_expected(self):
        temporary = self.folder / "tmp"
        temporary.mkdir()
        with unittest.mock.patch.dict(os.environ, TMPDIR=str(temporary)):
            (self.folder / "site").mkdir()
            for name, content in {"a.wprgo": wprgo(), "a.warc.gz": gzip.compress(warc()),
                                  "a.har": har({"text": PAGE.decode()}),
                                  "site/save.x": mahimahi()}.items():
                with self.subTest(name):
                    recording = self.write(name, content)
                    if name == "site/save.x":
                        recording, name = recording.parent, "site"
                    self.assertEqual(self.fetch(recording, "https://a.test/page")[2], PAGE)
                    page = self.folder / f"{name}.html"
                    done = harness.run("view", str(recording), "-o", str(page), folder=self.folder)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn(b"https://a.test/page", page.read_bytes())
                    self.assertIn(b"for this run only", done.stderr)
            broken = self.write("broken.warc.gz", gzip.compress(warc())[:-9])
            done = harness.run("replay", str(broken), "--", "true", folder=self.folder)
            self.assertEqual(done.returncode, 3, done.stderr)
            neither = self.write("neither", b"some text")
            done = harness.run("replay", str(neither), "--", "true", folder=self.folder)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(b"not a reprise archive", done.stderr)
            other = self.folder / "site" / "other"
            other.mkdir()
            (other / "notes.txt").write_text("some text")
            done = harness.run("replay", str(other), "--", "true", folder=self.folder)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(b"Is a directory; give an archive", done.stderr)
        self.assertEqual(list(temporary.iterdir()), [])

    def test_a_length_that_is_not_the_body_s_is_no_obstacle(self):
        chunked = b"Transfer-Encoding: chunked\r\n"
        lengths = [b"Content-Length: -1\r\n", b"Content-Length: 42, 42\r\n", b"Content-Length:\r\n",
                   b"Content-Length: 1\r\n", b"Content-Length: 99\r\nContent-Length: 9\r\n"]
        heads = lengths + [chunked + each for each in lengths]
        heads.append(b"Transfer-Encoding: identity\r\nContent-Length: 5\r\n")
        files = []
        for number, head in enumerate(heads):
            block = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + PAGE
            files.append(self.write(f"{number}.warc", (
                b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
                b"WARC-Target-URI: https://a.test/%d\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" %
                (number, len(block), block))))
        done = self.import_all(*files)
        self.assertEqual(done.returncode, 0, done.stderr)
        for protocol in ("h1", "h2"):
            replay = self.replay(self.folder / "a.reprise", "--protocol", protocol)
            for number, head in enumerate(heads):
                with self.subTest(head, protocol=protocol):
                    got = subprocess.run(
                        ["curl", "--silent", "--show-error", "--cacert", replay.ca_file,
                         "--connect-to", "::" + replay.ready["https"], f"https://a.test/{number}"],
                        capture_output=True, check=False, timeout=harness.DEADLINE_SECONDS)
                    self.assertEqual((got.returncode, got.stdout), (0, PAGE), got.stderr)

    def test_the_same_recordings_give_the_same_bytes(self):
        one = self.write("one.warc", warc())
        two = self.write("two.har", har({"text": "x"}))
        for name in ("a.reprise", "b.reprise"):
            self.assertEqual(self.import_all(one, two, archive=name).returncode, 0)
        self.assertEqual((self.folder / "a.reprise").read_bytes(),
                         (self.folder / "b.reprise").read_bytes())
        self.assertEqual((self.folder / "a.reprise").stat().st_mode & 0o777, 0o600)

    def test_spdy_is_said_to_be_assumed(self):
        path = self.write("a.har", har({"text": "x"}, version="spdy"))
        done = self.import_all(path)
        self.assertIn(b"1 response has no known HTTP version", done.stderr)
        report = self.folder / "report.json"
        replay = self.replay(self.folder / "a.reprise", "--report", str(report))
        self.assertEqual(replay.stop(), 0)
        self.assertIn('"assumed":true', report.read_text().replace(" ", ""))

    def test_damage_ends_with_3_and_leaves_nothing(self):
        path = self.write("cut.warc", warc() + warc()[:-30])
        done = self.import_all(path)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"cut.warc: record 2 at byte %d" % len(warc()), done.stderr)
        self.assertFalse((self.folder / "a.reprise").exists())

    def test_a_flipped_bit_ends_with_3_and_names_the_way_out(self):
        whole = gzip.compress(warc(), mtime=0)
        checksum = len(whole) - 8
        flipped = whole[:checksum] + bytes([whole[checksum] ^ 1]) + whole[checksum + 1:]
        path = self.write("flipped.warc.gz", whole + flipped)
        done = self.import_all(path)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"flipped.warc.gz: at byte ", done.stderr)
        self.assertIn(b"--keep-going to import what can be read", done.stderr)
        self.assertFalse((self.folder / "a.reprise").exists())

    def test_an_import_of_nothing_ends_with_3_and_leaves_nothing(self):
        empty = json.dumps({"log": {"entries": []}}).encode()
        elsewhere = warc(b"dns:a.test").replace(b"response", b"resource")
        for content in (empty, elsewhere):
            for arguments in ((), ("--keep-going",)):
                done = self.import_all(self.write("empty", content), arguments=arguments)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(b"empty: contains no exchange", done.stderr)
                self.assertFalse((self.folder / "a.reprise").exists())

    def test_a_response_without_its_body_is_replayed_as_said(self):
        path = self.write("a.har", har({"size": 100}))
        done = self.import_all(path)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"a replay cuts it at the same place", done.stderr)
        self.assertIn(b"contains no response bodies", done.stderr)
        replay = self.replay(self.folder / "a.reprise")
        host, port = replay.address("https")
        got = subprocess.run(
            ["curl", "-sSi", "--cacert", replay.ca_file, "--connect-to", f"::{host}:{port}",
             "https://a.test/page"], capture_output=True, timeout=30, check=False)
        self.assertNotEqual(got.returncode, 0, "the body is broken off")
        self.assertTrue(got.stdout.startswith(b"HTTP/2 200"), got)
        self.assertEqual(replay.stop(), 0)

    def test_keep_going_keeps_what_was_readable(self):
        cut = self.write("cut.warc", warc() + warc(b"https://a.test/cut")[:-30])
        good = self.write("good.warc", warc(b"https://b.test/"))
        done = self.import_all(cut, good, arguments=("--keep-going", "--json"))
        self.assertEqual(done.returncode, 3)
        counts = json.loads(done.stdout)
        self.assertEqual((counts["exchanges"], counts["incomplete"]), (3, 1))
        self.assert_sound(self.folder / "a.reprise")

    def test_an_archive_is_never_overwritten(self):
        path = self.write("a.warc", warc())
        self.assertEqual(self.import_all(path).returncode, 0)
        before = (self.folder / "a.reprise").read_bytes()
        done = self.import_all(path)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"already exists", done.stderr)
        self.assertEqual((self.folder / "a.reprise").read_bytes(), before)

    def test_an_import_that_is_stopped_keeps_what_was_read(self):
        count = 300_000
        path = self.write("long.warc", warc() * count)
        command = [harness.REPRISE, "archive", "import", str(path), "-o",
                   str(self.folder / "a.reprise"), "--json"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in harness.watch_folder(self.folder, process.pid):
            if (self.folder / "a.reprise").exists():
                break
        process.send_signal(signal.SIGINT)
        said, complaints = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, complaints)
        self.assertIn(b"contains what was read so far", complaints)
        self.assert_sound(self.folder / "a.reprise")
        kept = json.loads(said)["exchanges"]
        self.assertLess(kept, count)
        self.assertEqual(len(self.archive_json("ls", str(self.folder / "a.reprise"))), kept)

    @unittest.skipUnless(os.environ.get("REPRISE_CORPUS"), "REPRISE_CORPUS names no folder")
    def test_real_recordings_import_or_end_with_3(self):
        corpus = pathlib.Path(os.environ["REPRISE_CORPUS"])
        for path in sorted(corpus.rglob("*")):
            if not path.is_file() or "html5lib" in str(path):
                continue
            with self.subTest(path=str(path.relative_to(corpus))):
                archive = self.folder / "real.reprise"
                done = self.import_all(path, archive=archive)
                self.assertIn(done.returncode, (0, 3), done.stderr)
                self.assertEqual(archive.exists(), done.returncode == 0)
                if done.returncode == 0:
                    self.assert_sound(archive)
                    archive.unlink()
                else:
                    self.assertIn(path.name.encode() + b": ", done.stderr)


if __name__ == "__main__":
    harness.main()
