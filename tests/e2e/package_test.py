#!/usr/bin/env python3
"""The packages of `cpack`: what lintian says; and on a bare Debian, made by debootstrap: the .deb
installs with its dependencies, records, replays behind a link, has its manual and completions, and
leaves nothing when it is removed; with the packages that it recommends, tools/demo records a site
with a browser and replays it over a link. Needs root and Debian's mirror (tools/test --full)."""

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

import harness
from wire import Certificate, response

BUILD = pathlib.Path(os.environ.get("REPRISE_BUILD", pathlib.Path(harness.REPRISE).parent))
MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
SECURITY = "http://deb.debian.org/debian-security"
MINUTES = 60
DEB = "reprise_*.deb"
# What tools/demo needs besides reprise and what that recommends: the browsers, and the origin.
DEMO_PACKAGES = ("chromium-headless-shell", "fonts-dejavu-core", "nginx-light",
                 "libnginx-mod-http-brotli-static", "brotli", "zstd", "python3", "python3-doc",
                 "openssl", "iproute2")


def setUpModule():
    folder = tempfile.mkdtemp(prefix="reprise-package.")
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run(["cpack", "--config", BUILD / "CPackConfig.cmake", "-B", folder], check=True,
                   capture_output=True, timeout=10 * MINUTES)
    made.extend(pathlib.Path(folder).iterdir())


made = []


def package(pattern):
    """The package of this name that cpack made."""
    found, = (path for path in made if path.match(pattern))
    return found


class Packages(harness.TestCase):
    def test_lintian_finds_nothing(self):
        done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning",
                               package(DEB)],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_the_debug_symbols_are_in_a_package_beside_it(self):
        symbols = package("reprise-dbgsym_*.ddeb")
        listed = subprocess.run(["dpkg", "-c", symbols], capture_output=True, text=True,
                                check=True).stdout
        self.assertRegex(listed, r"/usr/lib/debug/\.build-id/../\w+\.debug\n")
        self.assertLess(package(DEB).stat().st_size, symbols.stat().st_size)

    def test_the_tarball_has_the_stripped_program_and_its_other_names(self):
        tarball = package("reprise-*.tar.gz")
        with tarfile.open(tarball) as opened:
            names = {name.split("/", 1)[1] for name in opened.getnames() if "/" in name}
            opened.extractall(self.folder)
        for name in ("usr/bin/wpr", "usr/bin/httparchive", "usr/bin/tsproxy",
                     "usr/share/man/man1/reprise.1.gz",
                     "usr/share/reprise/trench/manifest.json",
                     "usr/share/reprise/emitters/node/trench.js"):
            self.assertIn(name, names)
        program, = self.folder.glob("*/usr/bin/reprise")
        done = subprocess.run([program, "--version"], capture_output=True, check=True)
        self.assertRegex(done.stdout, rb"^reprise \d")
        sections = subprocess.run(["readelf", "-S", "-W", program], capture_output=True, text=True,
                                  check=True).stdout
        self.assertNotIn(".debug_line", sections)


class BareDebian(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "root"
        subprocess.run(["debootstrap", "--variant=minbase", "--include=ca-certificates,man-db",
                        "bookworm", self.root, MIRROR], check=True, stdout=subprocess.DEVNULL,
                       timeout=20 * MINUTES)
        (self.root / "etc/apt/sources.list").write_text(
            f"deb {MIRROR} bookworm main\ndeb {SECURITY} bookworm-security main\n")
        # A link makes the mounts of its namespace private, so the root must be a mount.
        self.mount("--bind", self.root, self.root)
        self.mount("-t", "proc", "proc", self.root / "proc")
        self.inside("apt-get", "-q", "update")

    def mount(self, *arguments):
        """In the mount namespace of this test alone."""
        subprocess.run(["mount", *arguments], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", arguments[-1]], check=True)

    def inside(self, *command, code=0):
        """Runs a command in the bare Debian; returns what it prints."""
        done = subprocess.run(
            ["chroot", self.root, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
             "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", "MANPAGER=cat", *command],
            capture_output=True, text=True, check=False, timeout=10 * MINUTES)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def files(self):
        """The files of the root, without those of the running system and what apt and dpkg keep."""
        skipped = {self.root / each for each in ("proc", "dev", "tmp", "run", "var/lib/dpkg",
                                                 "var/lib/apt", "var/cache", "var/log")}
        found = set()
        for folder, folders, names in os.walk(self.root):
            folders[:] = [each for each in folders if pathlib.Path(folder, each) not in skipped]
            found |= {os.path.join(folder, each) for each in (*names, *folders)}
        return found

    def install(self):
        # What its dependencies and the browsers bring is not its own.
        needed = [each for field in ("Depends", "Recommends") for each in self.packages(field)]
        self.inside("apt-get", "-q", "-y", "install", "--no-install-recommends", "curl", *needed,
                    *DEMO_PACKAGES)
        self.before = self.files()
        shutil.copy(package(DEB), self.root / "tmp/reprise.deb")
        self.inside("apt-get", "-q", "-y", "install", "--no-install-recommends",
                    "/tmp/reprise.deb")

    def packages(self, field):
        """The names in a field of the package."""
        text = subprocess.run(["dpkg-deb", "-f", package(DEB), field], capture_output=True,
                              text=True, check=True).stdout
        return [each.split("(")[0].strip() for each in text.split(",")]

    def test_it_installs_works_and_leaves_nothing(self):
        self.install()
        self.assertRegex(self.inside("reprise", "--version"), r"^reprise \d")
        self.assertIn("usage", self.inside("wpr", "help").lower())
        self.inside("httparchive", "--help")
        self.inside("tsproxy", "--help")
        for page in ("reprise", "wpr", "httparchive"):
            self.assertIn("EXIT STATUS", self.inside("man", page))
        self.complete()
        self.record_and_replay()
        self.demonstrate()
        self.inside("apt-get", "-q", "-y", "purge", "reprise")
        self.inside("rm", "-rf", "/root/.local", "/root/.cache", "/root/.config", "/root/.pki")
        self.assertEqual(self.files() - self.before, set())

    def complete(self):
        """What bash offers for `reprise arc` once it has read the completion."""
        completed = self.inside(
            "bash", "-c", "source /usr/share/bash-completion/completions/reprise\n"
            "COMP_WORDS=(reprise arc) COMP_CWORD=1 && $(complete -p reprise | grep -o '_[a-z]*')\n"
            "echo ${COMPREPLY[@]}")
        self.assertEqual(completed.split(), ["archive"])

    def demonstrate(self):
        """The main job of tools/demo: a site recorded with a browser, replayed over a link."""
        for name in ("demo", "demo_compare.py", "demo_site"):
            source, copy = harness.REPOSITORY / "tools" / name, self.root / "tmp/tools" / name
            if source.is_dir():
                shutil.copytree(source, copy)
            else:
                copy.parent.mkdir(exist_ok=True)
                shutil.copy(source, copy)
        self.mount("-t", "tmpfs", "tmpfs", self.root / "dev/shm")
        printed = self.inside("env", "REPRISE=/usr/bin/reprise", "/tmp/tools/demo", "--no-advice")
        self.assertIn("Replaying it twice over an emulated 4G link", printed)
        self.assertIn("Same requests, same bytes, same documents.", printed)

    def record_and_replay(self):
        tls = Certificate(self.folder / "tls")
        origin = self.origin(lambda _: response(b"hello"), tls=tls)
        shutil.copy(tls.ca_file, self.root / "tmp/origin.pem")
        url = "https://origin.test/"
        recorded = self.inside(
            "reprise", "record", "-o", "/tmp/a.reprise", *origin.connect_to(), "--origin-ca",
            "/tmp/origin.pem", "--", "sh", "-c", f'curl -sS -x "http://$REPRISE_PROXY" {url}')
        self.assertEqual(recorded, "hello")
        for link in ((), ("--link", "none", "--no-selfcheck")):
            client = f"curl -sS {url}" if link else f'curl -sS -x "http://$REPRISE_PROXY" {url}'
            replayed = self.inside("reprise", "replay", "--strict", *link, "/tmp/a.reprise", "--",
                                   "sh", "-c", client)
            self.assertEqual(replayed, "hello")


if __name__ == "__main__":
    if os.geteuid() or not shutil.which("debootstrap"):
        print("skipped: needs root and debootstrap")
        sys.exit(harness.SKIPPED)
    harness.main_in_namespace("--mount")
