"""Whether the files that `advise` writes for the page's owner are what they should be: advice.md,
with the pictures that it shows, and view.html."""

import re

PICTURE_SIDES = range(100, 4001)  # pixels: a browser's frames, made smaller for a trace
PICTURE_BYTES = range(500, 2_000_001)


def jpeg_size(data):
    """Width and height in pixels; zeros if it is none, or is cut off."""
    at = 2
    if not data.startswith(b"\xff\xd8\xff") or not data.endswith(b"\xff\xd9"):
        return 0, 0
    while at + 9 <= len(data) and data[at] == 0xff:
        if data[at + 1] in (0xc0, 0xc1, 0xc2):  # a frame's header
            return tuple(int.from_bytes(data[i:i + 2], "big") for i in (at + 7, at + 5))
        at += 2 + int.from_bytes(data[at + 2:at + 4], "big")
    return 0, 0


def pictures_in(text):
    return re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)


def is_plausible(picture):
    if not picture.is_file():
        return False
    data = picture.read_bytes()
    return len(data) in PICTURE_BYTES and all(side in PICTURE_SIDES for side in jpeg_size(data))


def faults_of(out, wanted):
    """What is wrong with the files. `wanted`: changes that advice.md shows before and after."""
    lacking = [name for name in ("advice.md", "view.html") if not (out / name).is_file()]
    if lacking:
        return [f"no {name}" for name in lacking]
    text = (out / "advice.md").read_text()
    faults = [f"no picture: {each}" for each in pictures_in(text) if not is_plausible(out / each)]
    faults += re.findall(r"^Note: .*", text, re.MULTILINE)  # why there is no picture
    sections = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    if sum(bool(pictures_in(each)) for each in sections) != wanted:
        faults.append(f"not {wanted} changes with pictures")
    if '"frames":[[' not in (out / "view.html").read_text():
        faults.append("view.html shows no frames")
    return faults
