#!/usr/bin/env python3
"""`archive ls DIR`: all archives of a folder, from an index that is rebuilt when it is stale."""

import json
import os
import shutil

import harness
from wire import response


class CorpusIndex(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.corpus = self.folder / "corpus"
        self.corpus.mkdir()
        self.index = self.corpus / ".reprise-index"
        self.record_one("a", "/a", "/style.css")

    def record_one(self, name, *paths):
        def answer(request):
            kind = b"text/css" if request.target.endswith(".css") else b"text/html"
            return response(b"x" * 100, headers=b"Content-Type: " + kind + b"\r\nX-Mark: " +
                            name.encode() + b"\r\n")
        origin = self.origin(answer)
        recorder = self.record(self.corpus / f"{name}.reprise", origins=[origin])
        for path in paths:
            with recorder.connect("http", harness.HOST) as client:
                self.assertEqual(client.get(path, harness.HOST).status, 200)
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def listed(self, *filters, expect=0):
        done = harness.run("archive", "ls", str(self.corpus), *filters, "--json")
        self.assertEqual(done.returncode, expect, done.stderr.decode())
        return json.loads(done.stdout)

    def test_has_what_ls_of_each_archive_has(self):
        shutil.copy(self.corpus / "a.reprise", self.corpus / "b.reprise")
        for _ in range(2):  # without an index, and with it
            found = self.listed()
            for name in ("a.reprise", "b.reprise"):
                alone = self.archive_json("ls", str(self.corpus / name))
                self.assertEqual([{key: value for key, value in each.items() if key != "archive"}
                                  for each in found if each["archive"] == name], alone)
        self.assertEqual(os.stat(self.index).st_mode & 0o777, 0o600)
        text = harness.run("archive", "ls", str(self.corpus)).stdout.decode()
        self.assertEqual(len(text.splitlines()), 4)
        self.assertIn("a.reprise", text)

    def test_filters_by_everything_that_ls_filters_by(self):
        for filters, count in ((["host=" + harness.HOST], 2), (["type=style"], 1),
                               (["path=/a", "status=2xx"], 1), (["host=nobody.test"], 0),
                               (['header="x-mark: a"'], 2), (['header="x-mark: b"'], 0),
                               (["size>=100", "method=get"], 2), (["number=2"], 1)):
            alone = self.archive_json("ls", str(self.corpus / "a.reprise"), *filters)
            self.assertEqual(len(alone), count, filters)
            self.assertEqual(len(self.listed(*filters)), count, filters)

    def test_an_archive_that_came_went_or_changed_is_seen(self):
        self.assertEqual(len(self.listed()), 2)
        before = self.index.stat().st_mtime_ns
        self.assertEqual(len(self.listed()), 2)
        self.assertEqual(self.index.stat().st_mtime_ns, before)  # nothing to write
        self.record_one("b", "/one", "/two", "/three")
        self.assertEqual(len(self.listed()), 5)
        os.replace(self.corpus / "b.reprise", self.corpus / "a.reprise")
        self.assertEqual({each["archive"] for each in self.listed()}, {"a.reprise"})
        self.assertEqual(len(self.listed()), 3)

    def test_an_index_that_is_damaged_is_made_again(self):
        self.listed()
        good = self.index.read_bytes()
        for bad in (good[:len(good) // 2], b"x" * 100, good.replace(b"[[1,", b"[[-1,"),
                    good.replace(b'"exchanges":[[1', b'"exchanges":[["')):
            self.index.write_bytes(bad)
            self.assertEqual(len(self.listed()), 2)
            self.assertEqual(self.index.read_bytes(), good)

    def test_an_archive_that_cannot_be_read_does_not_hide_the_others(self):
        (self.corpus / "bad.reprise").write_bytes(b"not an archive")
        for _ in range(2):
            self.assertEqual({each["archive"] for each in self.listed(expect=3)}, {"a.reprise"})
        done = harness.run("archive", "ls", str(self.corpus))
        self.assertIn(b"bad.reprise", done.stderr)
        empty = self.folder / "empty"
        empty.mkdir()
        done = harness.run("archive", "ls", str(empty))
        self.assertEqual((done.returncode, b"contains no archive" in done.stderr), (3, True))


if __name__ == "__main__":
    harness.main()
