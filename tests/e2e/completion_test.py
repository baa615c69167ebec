#!/usr/bin/env python3
"""The completion scripts parse in their shells; bash and fish offer what the program takes."""

import shlex
import shutil
import subprocess
import unittest

import harness


def script(shell):
    done = harness.run("completion", shell)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def is_here(shell):
    """In `tools/test --full`, whose setup installs all shells, a missing one is a failure."""
    return shutil.which(shell) is not None or harness.THOROUGH


class Completion(harness.TestCase):
    def test_they_parse(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell):
                if not is_here(shell):
                    self.skipTest(f"no {shell}")
                done = subprocess.run([shell, "-n"], input=script(shell), capture_output=True,
                                      text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def bash(self, *words):
        """What bash offers for the last of `words`."""
        typed = " ".join(map(shlex.quote, ("reprise", *words)))
        done = subprocess.run(["bash"], capture_output=True, text=True, check=True, input=(
            f"{script('bash')}\nCOMP_WORDS=({typed})\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
            "_reprise\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"))
        self.assertEqual(done.stderr, "")
        return [line for line in done.stdout.splitlines() if line]

    def test_bash_offers_commands(self):
        self.assertEqual(self.bash("repl"), ["replay"])
        self.assertEqual(self.bash("archive", "rep"), ["repair"])
        self.assertNotIn("load-page", self.bash("load"))
        self.assertIn("record", self.bash(""))

    def test_bash_offers_the_options_of_the_command(self):
        self.assertEqual(self.bash("replay", "a.reprise", "--mat"), ["--match"])
        self.assertEqual(self.bash("record", "--mat"), [])
        self.assertIn("--no-child-ca", self.bash("replay", "--no-"))
        self.assertIn("--version", self.bash("--"))

    def test_bash_offers_the_values_of_an_option(self):
        self.assertEqual(self.bash("replay", "--match", ""), ["fuzzy", "exact"])
        self.assertEqual(self.bash("replay", "--match", "=", "e"), ["exact"])
        self.assertEqual(self.bash("replay", "--match", "="), ["fuzzy", "exact"])

    def test_bash_leaves_files_and_other_commands_to_itself(self):
        self.assertEqual(self.bash("replay", "a"), [])
        self.assertEqual(self.bash("replay", "--report", "--ma"), [])
        self.assertEqual(self.bash("replay", "a.reprise", "--", "curl", "--mat"), [])

    @unittest.skipUnless(is_here("fish"), "no fish")
    def test_fish_offers_the_same(self):
        file = self.folder / "reprise.fish"
        file.write_text(script("fish"))
        for typed, offered in (("repl", ["replay"]), ("archive rep", ["repair"]),
                               ("replay a.reprise --mat", ["--match"]),
                               ("replay --match ", ["exact", "fuzzy"])):
            with self.subTest(typed):
                done = subprocess.run(
                    ["fish", "--no-config", "-c",
                     f"source {file}; complete -C {shlex.quote('reprise ' + typed)}"],
                    capture_output=True, text=True, check=True)
                self.assertEqual([line.split("\t")[0] for line in done.stdout.splitlines()],
                                 offered)


if __name__ == "__main__":
    harness.main()
