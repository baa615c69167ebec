"""Packages of npm for tests, installed once and kept from run to run."""

import os
import pathlib
import shutil
import subprocess


def installed(folder):
    """The folder node_modules with what package-lock.json in `folder` pins, for $NODE_PATH. Needs
    npm."""
    lock = (folder / "package-lock.json").read_bytes()
    kept = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"),
                        "reprise-tests", folder.name)
    if not (kept / "installed").exists() or (kept / "installed").read_bytes() != lock:
        kept.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(folder / name, kept)
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=kept,
                       check=True, capture_output=True, timeout=300)
        (kept / "installed").write_bytes(lock)
    return kept / "node_modules"
