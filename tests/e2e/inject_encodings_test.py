#!/usr/bin/env python3
"""Documents in all encodings, as they are and with the script, in Chromium and Firefox: the same
document.characterSet, the same mode and the same text.

Synthetic ones always; with REPRISE_CORPUS, documents of its recordings that are not in UTF-8, too.
They are shown in frames where no script runs, so that nothing but the parser has a say.
"""

import hashlib
import json
import os
import pathlib
import re

import harness
from inject_pages import FEWER_BROWSERS, HOSTS, Pages
from wire import response

TEXTS = {"ru": "Привет, мир", "zh": "你好，世界", "tw": "你好", "ko": "안녕하세요", "ja": "こんにちは",
         "fr": "déjà vu"}
# (codec, text, Content-Type, what stands in <head>)
META = "<meta charset={}>".format
HIDDEN = "<script>var x = 1</script><style></style>"
EQUIV = "<meta http-equiv=Content-Type content='text/html; charset={}'>".format
KINDS = [
    (codec, text, type_, head) for codec, label, text in [
        ("cp1251", "windows-1251", "ru"), ("koi8-r", "koi8-r", "ru"), ("gb2312", "gb2312", "zh"),
        ("gbk", "gbk", "zh"), ("gb18030", "gb18030", "zh"), ("big5", "big5", "tw"),
        ("euc-kr", "euc-kr", "ko"), ("euc-jp", "euc-jp", "ja"), ("shift_jis", "shift_jis", "ja"),
        ("iso-2022-jp", "iso-2022-jp", "ja"), ("utf-8", "utf-8", "ru")]
    for type_, head in [(f"text/html; charset={label}", ""), ("text/html", META(label)),
                        ("text/html", HIDDEN + META(label)), ("text/html", EQUIV(label)),
                        ("text/html", "<!-- " + "x" * 1100 + " -->" + META(label))]
] + [
    ("utf-16", "ja", "text/html", ""), ("utf-16-le", "ru", "text/html; charset=utf-16le", ""),
    ("utf-16-be", "zh", "text/html; charset=utf-16be", ""), ("utf-8-sig", "ko", "text/html", ""),
    ("utf-8-sig", "ru", "text/html; charset=windows-1251", ""), ("latin-1", "fr", "text/html", ""),
    ("utf-8", "ru", "text/html", META("utf-16")), ("cp1251", "ru", "text/html", ""),
]
DECLARED = re.compile(rb"charset\s*=\s*[\"']?\s*(windows-\d+|gb\w+|euc-\w+|big5|shift_jis|koi8-r|"
                      rb"utf-16\w*|iso-8859-\d+|iso-2022-\w+)", re.IGNORECASE)
SUFFIXES = (".warc", ".warc.gz", ".wacz", ".har", ".wprgo")
RECORDING_BYTES_MAX = 20_000_000
CORPUS_DOCUMENTS_MAX = 100
DOCUMENT_BYTES_MAX = 1_000_000

INDEX = """<!doctype html><meta charset=utf-8><body><script>
const told = {}, count = %d;
async function look(number) {
  const frame = document.createElement('iframe');
  frame.sandbox = 'allow-same-origin';
  const loaded = new Promise((done) => { frame.onload = done; });
  frame.src = `/document/${number}`;
  document.body.append(frame);
  await loaded;
  const seen = frame.contentDocument;
  const scripts = [...seen.querySelectorAll('script')];
  scripts.filter((each) => each.text.includes('sourceURL=r')).forEach((each) => each.remove());
  told[number] = [
    seen.characterSet, seen.compatMode, scripts.length, seen.documentElement.outerHTML];
  frame.remove();
}
(async () => {
  for (let number = 0; number < count; number += 1) await look(number);
  const shown = document.body.appendChild(document.createElement('pre'));
  shown.id = 'told';
  shown.textContent = JSON.stringify(told);
})();
</script>"""


def synthetic():
    for codec, text, type_, head in KINDS:
        page = (f"<!doctype html><html><head>{head}<title>x</title></head><body>"
                f"<p>{TEXTS[text]}</p></body></html>")
        yield type_, page.encode(codec)


def of_corpus(folder):
    """(Content-Type, body) of what recordings have in encodings other than UTF-8."""
    archive = folder / "corpus.reprise"
    for recording in sorted(pathlib.Path(os.environ["REPRISE_CORPUS"]).glob("rec-*/**/*")):
        archive.unlink(missing_ok=True)
        if (not recording.name.endswith(SUFFIXES)
                or recording.stat().st_size > RECORDING_BYTES_MAX):
            continue
        if harness.run("archive", "import", str(recording), "-o", str(archive)).returncode:
            continue
        for each in json.loads(harness.run("archive", "ls", str(archive), "--json").stdout):
            if each["status"] != 200 or not each["type"].startswith("text/html"):
                continue
            number = str(each["number"])
            body = harness.run("archive", "cat", str(archive), number, "--decoded").stdout
            head = harness.run("archive", "cat", str(archive), number, "--head").stdout
            type_ = re.search(rb"^content-type:\s*(.*?)\s*$", head, re.IGNORECASE | re.MULTILINE)
            declared = DECLARED.search(type_[1] if type_ else b"") or DECLARED.search(body[:4096])
            if declared and 0 < len(body) <= DOCUMENT_BYTES_MAX:
                yield type_[1].decode("latin-1") if type_ else "text/html", body


class Encodings(Pages):
    def setUp(self):
        super().setUp()
        self.documents = list(synthetic())
        if "REPRISE_CORPUS" in os.environ:
            found = {}
            for type_, body in of_corpus(self.folder):
                found.setdefault(hashlib.sha256(body).digest(), (type_, body))
                if len(found) == CORPUS_DOCUMENTS_MAX:
                    break
            self.assertGreater(len(found), 0)
            self.documents += found.values()
            print(f"{len(found)} documents of recordings")
        self.record_pages(["/", *(f"/document/{i}" for i in range(len(self.documents)))])

    def answer(self, request):
        if request.target == "/":
            return response((INDEX % len(self.documents)).encode(),
                            headers=b"Content-Type: text/html\r\n")
        type_, body = self.documents[int(request.target.rsplit("/", 1)[1])]
        return response(body, headers=f"Content-Type: {type_}\r\n".encode("latin-1"))

    def test_character_sets_modes_and_texts_are_the_same(self):
        for browser in FEWER_BROWSERS:
            with self.subTest(browser=browser):
                seen = [self.told(load) for inject in ("none", "default")
                        for load in self.load(f"https://{HOSTS[0]}/", browser, "--inject", inject,
                                              "--replay-flag=--script-in=documents")]
                old, new = seen
                self.assertEqual(len(old), len(self.documents))
                for number, (charset, mode, scripts, text) in old.items():
                    about = self.documents[int(number)]
                    self.assertEqual(new[number][:2], [charset, mode], about[1][:200])
                    self.assertEqual(new[number][2], scripts + 1, about[1][:200])
                    self.assertEqual(new[number][3], text, about[1][:200])
                # The parser did tell them apart, and read what was meant.
                self.assertGreaterEqual(len({charset for charset, *_ in old.values()}), 12)
                for number, (_, text, _, _) in enumerate(KINDS[:55:5]):
                    self.assertIn(TEXTS[text], old[str(5 * number)][3])


if __name__ == "__main__":
    harness.main()
