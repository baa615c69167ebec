"""The demonstration's site, served by nginx on loopback."""

import contextlib
import os
import shutil
import subprocess
import sys

import harness

PAGE = "https://www.meadow.test/"
NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin") or "nginx"


@contextlib.contextmanager
def serving(folder, change=lambda site: None):
    """Makes the site in `folder`, which must not be there; `change(folder)` may edit its files
    (folder/site). While it is served, gives the arguments that lead `record` to it."""
    folder.mkdir()
    make_site = harness.REPOSITORY / "tools/demo_site/make_site.py"
    subprocess.run([sys.executable, "-B", make_site, folder, folder.parent], check=True)
    change(folder / "site")
    nginx = subprocess.Popen([NGINX, "-p", folder, "-e", folder / "error.log", "-c",
                              folder / "nginx.conf", "-g", "daemon off;"],
                             stdin=subprocess.DEVNULL)
    try:
        for _ in harness.watch_folder(folder, nginx.pid):
            if (folder / "nginx.pid").exists() or nginx.poll() is not None:
                break
        connects = [each for line in (folder / "connect").read_text().split()
                    for each in ("--connect-to", line)]
        yield [*connects, "--origin-ca", str(folder / "tls/ca.pem")]
    finally:
        nginx.terminate()
        nginx.wait()
