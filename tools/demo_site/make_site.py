#!/usr/bin/env python3
"""Makes the demo's origin in one folder: site, pictures, certificates, nginx.conf.

usage: make_site.py WORK DOCS

WORK/site has the files for nginx, WORK/tls a temporary CA (ca.pem) and its certificates,
WORK/nginx.conf the settings for `nginx -c`, and WORK/connect one --connect-to value per line.
"""

import gzip
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys

import draw

HERE = pathlib.Path(__file__).resolve().parent
FONTS = pathlib.Path("/usr/share/fonts/truetype/dejavu")
FONT_FILES = {
    "sans": "DejaVuSans.ttf",
    "sans-bold": "DejaVuSans-Bold.ttf",
    "serif": "DejaVuSerif.ttf",
    "mono": "DejaVuSansMono.ttf",
}
BIRDS = ("skylark corncrake whinchat curlew lapwing snipe quail barn-owl kestrel linnet "
         "wagtail").split()
FLOWERS = ("cowslip ragged-robin oxeye-daisy yellow-rattle meadowsweet knapweed cuckooflower "
           "larkspur harebell red-clover bird-s-foot scabious").split()
PLACES = ("the hide", "brook", "long acre", "east hedge", "flood pasture")
PHOTOS = 12
CERTIFICATES = {
    "meadow": ["www.meadow.test", "static.meadow.test", "img.meadow.test"],
    "larkspur": ["api.larkspur.test"],
    "tags": ["tags.counter.test"],
    "photos": ["photos.meadow.test"],
    "pydoc": ["docs.pydoc.test"],
}
# All files have the same date, so Last-Modified and ETag do not change between runs.
FILE_TIME = 1717200000


def make_pictures(img):
    for folder in ("birds", "flowers", "tiles"):
        (img / folder).mkdir(exist_ok=True)
    for name in BIRDS:
        (img / "birds" / f"{name}.png").write_bytes(draw.bird(name))
    for name in FLOWERS:
        (img / "flowers" / f"{name}.png").write_bytes(draw.flower(name))
    (img / "tiles" / "tile.png").write_bytes(draw.tile())
    (img / "patterns" / "paper.png").write_bytes(draw.paper())
    (img / "hero.png").write_bytes(draw.hero())


def records():
    """What was seen, as a script: some 400 kB. The first ones have photographs."""
    chance = random.Random("records")
    seen = [{"species": chance.choice(BIRDS + FLOWERS), "place": chance.choice(PLACES),
             "day": chance.randrange(90), "count": chance.randrange(1, 40),
             "observer": f"{chance.randrange(1 << 32):08x}"} for _ in range(4000)]
    for number in range(PHOTOS):
        seen[number]["photo"] = str(number)
    return f"window.meadow = {json.dumps({'records': seen})};\n"


def make_site(site):
    for host in ("www", "static", "api", "img", "tags"):
        shutil.copytree(HERE / host, site / host)
    static = site / "static"
    (static / "fonts").mkdir()
    for name, source in FONT_FILES.items():
        shutil.copyfile(FONTS / source, static / "fonts" / f"{name}.ttf")
    make_pictures(site / "img")
    (static / "data").mkdir()
    (static / "data" / "records.js").write_text(records())
    (site / "photos").mkdir()
    for number in range(PHOTOS):
        (site / "photos" / f"{number}.png").write_bytes(draw.photo(number))
    for style in static.glob("*.css"):
        subprocess.run(["brotli", "--quality=9", str(style)], check=True)
    for script in [*static.glob("*.js"), static / "fonts" / "serif.ttf"]:
        packed = script.with_name(script.name + ".gz")
        packed.write_bytes(gzip.compress(script.read_bytes(), 6, mtime=0))
    subprocess.run(["zstd", "-q", str(static / "checklist.json")], check=True)
    for path in site.rglob("*"):
        os.utime(path, (FILE_TIME, FILE_TIME))


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stderr=subprocess.DEVNULL)


def make_certificates(tls):
    """A root, and one leaf per entry of CERTIFICATES; P-256, valid for two days."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    openssl("req", "-x509", *key, "-keyout", f"{tls}/ca.key", "-out", f"{tls}/ca.pem",
            "-subj", "/CN=Demo origin CA", "-addext", "basicConstraints=critical,CA:TRUE")
    for name, hosts in CERTIFICATES.items():
        names = ",".join(f"DNS:{host}" for host in hosts)
        openssl("req", "-x509", *key, "-CA", f"{tls}/ca.pem", "-CAkey", f"{tls}/ca.key",
                "-keyout", f"{tls}/{name}.key", "-out", f"{tls}/{name}.pem",
                "-subj", f"/CN={hosts[0]}", "-addext", f"subjectAltName={names}",
                "-addext", "basicConstraints=critical,CA:FALSE")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    work, docs = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    for folder in ("site", "tls", "tmp"):
        (work / folder).mkdir()
    make_site(work / "site")
    make_certificates(work / "tls")
    port = free_port()
    # As root, nginx would run as another user, who cannot read a private temporary folder.
    user = "user root root;" if os.geteuid() == 0 else ""
    config = (HERE / "nginx.conf.in").read_text()
    for name, value in {"WORK": work, "PORT": port, "DOCS": docs, "USER": user}.items():
        config = config.replace(f"@{name}@", str(value))
    (work / "nginx.conf").write_text(config)
    (work / "connect").write_text("".join(
        f"{host}:443:127.0.0.1:{port}\n" for hosts in CERTIFICATES.values() for host in hosts))


if __name__ == "__main__":
    main()
