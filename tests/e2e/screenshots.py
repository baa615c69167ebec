"""How far two screenshots differ."""

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {2: 3, 6: 4}  # RGB, RGBA
# Chromium rasters a page in tiles as they come: the edges of glyphs and curves differ between
# loads of one page by up to 4 levels, in up to 7 pixels (four loads of an encyclopaedia's page).
LEVELS = 8


def chunks(png):
    assert png.startswith(SIGNATURE)
    at = len(SIGNATURE)
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        yield kind, png[at + 8:at + 8 + size]
        at += size + 12


def paeth(left, up, corner):
    """PNG, section 9.4."""
    distances = [(abs(up - corner), 0, left), (abs(left - corner), 1, up),
                 (abs(left + up - 2 * corner), 2, corner)]
    return min(distances)[2]


def unfiltered(kind, line, above, step):
    """A line of pixels. PNG, section 9.2."""
    if kind == 0:
        return line
    if kind == 2:
        return bytes((byte + up) & 255 for byte, up in zip(line, above))
    pixels = bytearray(step) + line
    corners = bytes(step) + above
    for at, byte in enumerate(line):
        left, up, corner = pixels[at], above[at], corners[at]
        if kind == 1:
            guess = left
        elif kind == 3:
            guess = (left + up) // 2
        else:
            guess = paeth(left, up, corner)
        pixels[at + step] = (byte + guess) & 255
    return bytes(pixels[step:])


def picture(file):
    """Its width, height, bytes a pixel and lines."""
    parts = list(chunks(file.read_bytes()))
    width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
    assert depth == 8 and not interlaced and colours in CHANNELS, (depth, colours, interlaced)
    step = CHANNELS[colours]
    data = zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    size, lines = width * step, [bytes(width * step)]
    for at in range(0, len(data), size + 1):
        lines.append(unfiltered(data[at], data[at + 1:at + 1 + size], lines[-1], step))
    return width, height, step, lines[1:]


def changed(before, after):
    """The share of pixels in which two files differ by more than `LEVELS` of 255 in a colour."""
    width, height, step, ours = picture(before)
    if (width, height, step) != (found := picture(after))[:3]:
        return 1.
    pixels = 0
    for line, other in zip(ours, found[3]):
        if line != other:
            pixels += len({at // step for at, (one, two) in enumerate(zip(line, other))
                           if abs(one - two) > LEVELS})
    return pixels / (width * height)
