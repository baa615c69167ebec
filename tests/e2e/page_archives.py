"""Archives of pages that several figures measure: the demonstration's, and real ones that are
imported from recordings. One that is in the folder already is not made again."""

import os
import pathlib

import demo_origin
import harness
from real_pages_figure import PAGES

TIMEOUT_SECONDS = 1800


def demonstration(folder):
    """The archive of demo_origin.PAGE, recorded."""
    archive = folder / "demonstration.reprise"
    if not archive.exists():
        with demo_origin.serving(folder / "demonstration") as origin:
            done = harness.run("record", "-o", str(archive), "--browser", harness.BROWSER, *origin,
                               demo_origin.PAGE, folder=folder, timeout=TIMEOUT_SECONDS)
        assert done.returncode == 0, done.stderr.decode()
    return archive


def imported(folder, names=tuple(name for name, _, _ in PAGES)):
    """Name, archive and URL of each real page of these names; none without REPRISE_CORPUS."""
    corpus = os.environ.get("REPRISE_CORPUS")
    for name, pattern, url in PAGES if corpus else ():
        if name not in names:
            continue
        archive = folder / f"{name}.reprise"
        if not archive.exists():
            recording = next(pathlib.Path(corpus).glob(pattern))
            done = harness.run("archive", "import", str(recording), "-o", str(archive),
                               folder=folder, timeout=TIMEOUT_SECONDS)
            assert done.returncode == 0, done.stderr.decode()
        yield name, archive, url
