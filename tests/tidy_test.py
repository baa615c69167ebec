#!/usr/bin/env python3
"""Keeps the tree in the shape that it was designed in: include direction, line length, dead files,
what is not allowed to know what."""

import collections
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# What each folder may include, besides itself. The first match counts.
MAY_INCLUDE = [
    ("base/text/", []),
    ("base/", ["base/"]),
    ("archive/", ["archive/", "base/"]),
    ("dns/", ["base/"]),
    ("shaper/", ["shaper/", "base/"]),
    ("inject/document/", ["inject/", "base/"]),
    ("inject/", ["archive/", "base/"]),
    ("proxy/tls/", ["base/"]),
    ("proxy/stream/", ["proxy/tls/", "base/"]),
    ("proxy/quic/", ["proxy/tls/", "base/"]),
    ("proxy/http/h3/", ["proxy/http/", "proxy/quic/", "proxy/stream/", "proxy/tls/", "base/"]),
    ("proxy/http/", ["proxy/stream/", "proxy/tls/", "archive/", "base/"]),
    # A replay cannot reach the network because nothing in it dials.
    ("proxy/replay/", ["proxy/replay/", "proxy/http/", "proxy/stream/", "proxy/tls/",
                       "proxy/connection.h", "proxy/server.h", "archive/", "inject/", "base/"]),
    ("proxy/", ["archive/", "inject/", "dns/", "shaper/", "base/"]),
    ("pageload/results/", ["base/"]),
    ("pageload/devices/", ["base/"]),
    ("pageload/browser/", ["pageload/devices/", "pageload/results/", "base/"]),
    ("pageload/run/", ["pageload/results/", "base/"]),
    ("analysis/differences/", ["analysis/differences/", "archive/", "inject/document/", "base/"]),
    ("analysis/", ["archive/", "pageload/results/", "base/"]),
    ("emitters/", []),  # for other programs: nothing of this one
    ("view/", ["analysis/", "archive/", "pageload/results/", "base/"]),
    ("tools/", [""]),
    ("tests/", [""]),
]
CROWDED = 40  # source files side by side, in a folder that is one idea
# What exists once, and where.
ONCE = [
    ("base64", r"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\+|EVP_\w+codeBlock",
     "base/text/base64.cc"),
    ("trimming", r"\bbool is_(white_)?space\(|string_view trim\w*\(std", "base/text/white_space.h"),
    ("a descriptor's owner", r"^(class|struct) \w*Descriptor \{", "base/system/descriptor.h"),
    ("decoders", r"inflateInit|inflateReset|libdeflate_\w*decompress|ZSTD_decompress",
     "base/coding/"),
    ("decoders", r"BrotliDecoderDecompress", "base/coding/"),
    ("process launch", r"\bexecvp?e?\(|posix_spawnp?\(", "base/system/"),
    ("the end of a head", r"find_head_end\(std::string_view buffer", "base/http/h1_parser."),
    ("HTTP's grammar", r"\bbool is_token\(|string_view take_line\(", "base/http/h1_syntax."),
    ("a Content-Type without parameters", r"string_view (essence|media_type)_of\(std",
     "base/http/media_type."),
    ("the kind of a resource", r"\{\"(shared|service)?worker\", [\w\":]+\}",
     "base/http/resource_type."),
    ("a part of a URL", r"\bstring(_view)? \w*without_(query|fragment)\(std",
     "base/http/url_parts."),
    ("ASCII", r"\bbool (is_(letter|digit)|contains_ignoring_case)\(|"
     r"\bchar (to_)?lower(_letter)?\(|<= 'Z'( \?|\) \w+ = )", "base/text/ascii.h"),
]
COLUMNS = 100
LINES_MAX = 400
# How C++, Python and JavaScript get a number that is another in each run.
OWN_SEED = re.compile(
    r"random_device|\bs?rand\(|SystemRandom|urandom|import secrets|random\.Random\(\)|"
    r"\brandom\.(random|randint|randrange|randbytes|getrandbits|choices?|sample|shuffle|uniform)\("
    r"|uuid[14]\(|seed\W+(time|Date\.now|\w+_clock)|crypto\.random(Int|Bytes)")


# What users read is in the words of shared use: a phrase that must not occur, and what says it. The
# rules are for messages, help, the man page, README, docs and the pages.
PHRASES = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in [
    (r"\bfor ever\b", "forever"),
    (r"\bwants?\b", "needs, must be"),
    (r"\bleft out\b", "skipped (why), dropped, not written, not shown, ignored"),
    (r"\b(?:which|it) is (?:said|told)\b|, said\b", "prints a notice, is reported"),
    (r"\b(?:report|result|archive|README) has it\b", "written to the report"),
    (r"\bfor who\b|\bwho may(?: not)?\b", "for users who may not, permitted"),
    (r"\bmanieth\b", "ordinal"),
    (r"\b(?<!there )(?:is|are) none\b(?! of\b)", "is missing, is invalid, is malformed"),
    (r"\b(?:is|are) none of\b", "must be one of, is not"),
    (r"(?<!there )\b(?:is|are) no (?!longer\b|more\b)", "is not a"),
    (r"\bgo(?:es|ne|ing)? on\b", "continue"),
    (r"\bin the place of\b", "instead of"),
    (r"\b(?:replay|browser|file|name|network|process|session|machine|address|level|clock)s?"
     r" of (?:its|their|his|our|your) own\b", "its own, separate"),
    (r"\bas (?:it|they) should(?: be)?\b|\bwhat it should be\b", "missed its settings"),
    (r"\bdice\b", "random numbers"),
    (r"\bgiven up\b", "give up, stop after"),
    (r"\bsay \\?-", "use --option, add --option"),
    (r"\bexists already\b", "already exists"),
    (r"\bdoubt(?:s|ful)\b", "warnings"),
    (r"[,(] of it\b|\bof it[,:;]|\bwhat (?:it is )?of it\b|\bmore is of it\b", "a noun"),
    (r"\bwhat is whole\b|\bfor whole\b", "undamaged, complete"),
    (r"\bbehind (?:it|the end|the load)\b|\bin front of byte\b", "after, before"),
    (r"\b(?:line|file) an? (?:packet|message|exchange|load|record|page)\b", "one line per packet"),
    (r"\b(?:is|are|was|were) to be (?:had|found)\b", "can be found"),
    (r"\bbe had\b", "is available"),
    (r"\bsomebody else\b|\bnobody may\b", "another program, not permitted"),
    (r"\bthat is meant\b|\bthat is the question\b", "permits it"),
    (r"\bso that (?:times|what)\b", "so"),
]]
# In C++ and scripts: comments and raw text are matched to be passed over, literals to be read.
LITERALS = {
    ".cc": re.compile(r"//[^\n]*|/\*.*?\*/|R\"\(.*?\)\"|#include[^\n]*|'(?:[^'\\\n]|\\.)'"
                      r"|\"((?:[^\"\\\n]|\\.)*)\"", re.DOTALL),
    ".js": re.compile(r"//[^\n]*|/\*.*?\*/|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`",
                      re.DOTALL),
}
LITERALS[".h"] = LITERALS[".cc"]


def tracked(*suffixes):
    out = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                         cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in out.splitlines()
            if name.endswith(suffixes) and os.path.exists(os.path.join(ROOT, name))]


def lines_of(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read().split("\n")


def includes_of(name):
    return [match.group(1) for line in lines_of(name)
            if (match := re.match(r'#include "([^"]+)"', line))]


def texts_for_users(name):
    """(line, text) of each text for users in a file: its literals, adjacent ones joined; for a text
    file, all of it without code in backticks."""
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        text = file.read()
    literals = LITERALS.get(os.path.splitext(name)[1])
    if literals is None:
        yield 1, " ".join(re.sub(r"`[^`\n]*`", "`code`", text).split())
        return
    line, joined, end = 1, "", 0
    for found in literals.finditer(text):
        piece = next((group for group in found.groups() if group is not None), None)
        if piece is None:
            continue
        if joined and text[end:found.start()].strip() not in ("", "+"):
            yield line, joined
            joined = ""
        if not joined:
            line = text.count("\n", 0, found.start()) + 1
        joined += piece
        end = found.end()
    yield line, joined


# What stands at the top of the tree, besides files whose names begin with a dot.
TOP = {"CMakeLists.txt", "CMakePresets.json", "README.md", "analysis", "archive", "base", "dns",
       "docs", "emitters", "harnesses", "inject", "pageload", "proxy", "shaper", "tests", "tools",
       "view"}


class Tidy(unittest.TestCase):
    def test_nothing_else_stands_at_the_top(self):
        top = {name.split("/")[0] for name in tracked("")}
        self.assertEqual({name for name in top if not name.startswith(".")} - TOP, set())

    def test_includes_point_the_allowed_way(self):
        for name in tracked(".h", ".cc"):
            folder, allowed = next((f, a) for f, a in MAY_INCLUDE if name.startswith(f))
            for included in includes_of(name):
                fits = included.startswith(folder) or any(included.startswith(a) for a in allowed)
                generated = included.endswith(".pb.h")
                self.assertTrue(fits or generated, f"{name} must not include {included}")

    def test_no_folder_is_crowded(self):
        counts = collections.Counter(os.path.dirname(name) for name in tracked(".h", ".cc"))
        for folder, count in counts.items():
            self.assertLessEqual(count, CROWDED, f"{folder}/ needs rooms of its own")

    def test_each_room_says_what_is_in_it(self):
        for name in tracked("CMakeLists.txt"):
            room = os.path.dirname(name)
            if not room.startswith("tests"):
                self.assertTrue(os.path.exists(os.path.join(ROOT, room, "README.md")), room)

    def test_a_replay_includes_nothing_that_dials(self):
        seen = set()

        def follow(name):
            if name in seen or not os.path.exists(os.path.join(ROOT, name)):
                return
            seen.add(name)
            for included in includes_of(name):
                follow(included)

        for name in tracked(".h", ".cc"):
            if name.startswith("proxy/replay/"):
                follow(name)
        dialling = [name for name in seen if name.startswith("proxy/record/")]
        self.assertEqual(dialling, [])
        self.assertGreater(len(seen), 5)

    def test_lines_fit(self):
        for name in tracked(".h", ".cc", ".py", ".txt", "tools/demo", "tools/test",
                            "tools/setup"):
            for number, line in enumerate(lines_of(name), 1):
                if "http" in line and " " not in line.strip():
                    continue  # an address cannot be broken
                self.assertLessEqual(len(line), COLUMNS, f"{name}:{number}")
                self.assertFalse(line.endswith((" ", "\t")), f"{name}:{number} ends in a space")

    def test_files_are_short_enough_to_read(self):
        for name in tracked(".h", ".cc"):
            if not name.startswith("tests/"):
                self.assertLessEqual(len(lines_of(name)), LINES_MAX + 1, name)

    def test_every_source_is_built_and_every_header_included(self):
        lists = {os.path.dirname(name): "\n".join(lines_of(name))
                 for name in tracked("CMakeLists.txt")}
        build = "\n".join(lists.values())
        sources = tracked(".h", ".cc")
        included = {i for name in sources for i in includes_of(name)}
        included |= {os.path.normpath(os.path.join(os.path.dirname(name), i))
                     for name in sources for i in includes_of(name)}
        for name in sources:
            if name.endswith(".cc"):
                in_room = "reprise_room(" in lists.get(os.path.dirname(name), "")
                self.assertTrue(in_room or os.path.basename(name) in build,
                                f"{name} is in no CMakeLists.txt")
            else:
                self.assertIn(name, included, f"{name} is included nowhere")

    def test_no_two_types_share_a_name(self):
        """They would be one to the linker, which takes the functions of either for both."""
        homes = {}
        for name in tracked(".h", ".cc"):
            if name.startswith("tests/"):
                continue
            scope = []
            for line in lines_of(name):
                if opened := re.match(r"namespace ([\w:]*) ?\{", line):
                    scope.append(opened.group(1))
                elif line.startswith("}  // namespace"):
                    scope.pop()
                elif "" not in scope and (
                        defined := re.match(r"(?:class|struct|enum class) (\w+)( final)?"
                                            r"( : [^;]*)? \{", line)):
                    homes.setdefault(f"{'::'.join(scope)}::{defined.group(1)}", []).append(name)
        for name, files in homes.items():
            self.assertEqual(len(files), 1, f"{name}: {files}")

    def test_users_read_plain_english(self):
        names = [name for name in tracked(".cc", ".h") if not name.startswith("tests/")]
        names += [name for name in tracked(".js", ".html") if name.startswith("view/")]
        names += [name for name in tracked(".md", ".sh", ".yml") if name.startswith("docs/")]
        names += ["README.md", "tools/reprise.1", "tools/demo", "tools/demo_compare.py"]
        read, hits = 0, []
        for name in names:
            for line, text in texts_for_users(name):
                if " " not in text or text.startswith("# left out"):  # a name; a log's format
                    continue
                read += 1
                for phrase, instead in PHRASES:
                    hits += [f"{name}:{line}: {text[max(0, at.start() - 40):at.end() + 20]!r}: "
                             f"rather {instead}" for at in phrase.finditer(text)]
        self.assertEqual(hits, [])
        self.assertGreater(read, 1000)

    def test_the_phrases_are_those_that_were_said(self):
        for said in ("left out, since its method is none: G T", "load wants ARCHIVE [URL...]",
                     "Of every random choice (default: any; the report has it)",
                     "for who may not make networks", "as the how manieth",
                     "replays it for ever", "else stream, which is said", "of it, think time",
                     "the link is not what it should be", "say --allow-remote if that is meant",
                     "a.json is no result of load", "Write a line a packet", "it goes on"):
            self.assertTrue(any(phrase.search(said) for phrase, _ in PHRASES), said)

    def test_docs_name_files_that_exist(self):
        for name in ["README.md", *(n for n in tracked(".md") if n.startswith("docs/"))]:
            for path in re.findall(r"`([a-z_]+/[\w./]+)`", "\n".join(lines_of(name))):
                if path.split("/")[0] in TOP:
                    self.assertTrue(os.path.exists(os.path.join(ROOT, path)), f"{name}: {path}")

    def test_what_installed_documents_refer_to_is_installed(self):
        installs = "\n".join(lines_of("tools/packaging/CMakeLists.txt"))
        of_the_sources = ("tests/bench/README.md", "tools/container/README.md")
        page = r"[a-z_]+/[\w/-]*[A-Z][A-Za-z]*\.md"
        for name in ["README.md", "tools/reprise.1", *re.findall(page, installs),
                     *(n for n in tracked(".md") if n.startswith("docs/"))]:
            text = "\n".join(lines_of(name)).replace("\\", "")
            for path in re.findall(page, text):
                if path.startswith("docs/") or path in of_the_sources:
                    continue
                self.assertIn(path, installs, name)

    def test_what_everybody_needs_exists_once(self):
        for name in tracked(".h", ".cc"):
            if name.startswith(("tests/", "emitters/")):
                continue
            for number, line in enumerate(lines_of(name), 1):
                for what, pattern, home in ONCE:
                    if not name.startswith(home):
                        self.assertNotRegex(line, pattern, f"{name}:{number}: {what}: see {home}")

    def test_headers_start_with_pragma_once(self):
        for name in tracked(".h"):
            self.assertEqual(lines_of(name)[0], "#pragma once", name)

    def test_tests_have_fixed_seeds(self):
        """A test whose seed changes from run to run fails where nobody can do anything about it:
        fresh seeds are tried by tools/test --full (tests/e2e/seeds_figure.py)."""
        figures = "\n".join(lines_of("tools/test_figures.txt"))
        for name in tracked(".h", ".cc", ".py", ".mjs", ".js"):
            # A benchmark's ports and names are new each time on purpose.
            is_exempt = name.startswith(("tests/bench/", "tests/test_seed.", "tests/tidy_test.py"))
            if is_exempt or not name.startswith("tests/"):
                continue
            for number, line in enumerate(lines_of(name), 1):
                self.assertNotRegex(line, OWN_SEED, f"{name}:{number}: tests/test_seed.* has one")
            takes_seed = re.compile(r"^(#include \"tests/test_seed\.h\"|from test_seed import|"
                                    r"import .*/test_seed\.mjs)")
            if any(map(takes_seed.match, lines_of(name))) and not name.endswith("seeds_figure.py"):
                self.assertIn(f" {name}", figures, "no row of tools/test_figures.txt")

    def test_what_only_full_runs_has_a_row(self):
        """tools/test runs no test that is labelled `full`: a row of its table does, to the end."""
        rows = {line.split()[-1].rpartition("/")[2] for line in lines_of("tools/test_figures.txt")
                if line.strip()}
        scripts, full = {}, set()
        for name in tracked("CMakeLists.txt"):
            text = re.sub(r"#.*", "", "\n".join(lines_of(name)))
            scripts |= {f"e2e_{test}": f"{test}_test.py"
                        for test in re.findall(r"\breprise_e2e\((\w+)", text)}
            scripts |= re.findall(r"\badd_test\(NAME (\w+)\s+COMMAND [^)]*?(\w+\.(?:py|sh))\b",
                                  text)
            for tests in re.findall(r"\bset_(?:property\(TEST|tests_properties\()([^)]*)\)",
                                    text):
                if re.search(r"\bLABELS \"?(?:\w+;)*full\b", tests):
                    names = re.split(r"\b(?:APPEND|PROPERTY|PROPERTIES)\b", tests)[0]
                    full |= set(names.split())
        self.assertGreater(len(full), 10)
        for test in full:
            self.assertIn(scripts.get(test, test), rows, f"{test} has no row")

    def test_code_is_formatted(self):
        tool = next((t for t in ("clang-format-19",)
                     if subprocess.run(["sh", "-c", f"command -v {t}"], capture_output=True)
                     .returncode == 0), None)
        self.assertIsNotNone(tool, "clang-format-19 is missing: run tools/setup")
        names = tracked(".h", ".cc")
        done = subprocess.run([tool, "--dry-run", "-Werror", *names], cwd=ROOT,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[:2000])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
