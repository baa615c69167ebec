"""Draws the guide's pictures as PNG files, from spans of colour. Same name, same picture."""

import math
import random
import struct
import zlib


class Picture:
    """A canvas of 8-bit RGB rows; shapes are painted as horizontal spans."""

    def __init__(self, width, height):
        self.width = width
        self.height = height
        self.rows = [bytearray(3 * width) for _ in range(height)]

    def span(self, y, x0, x1, colour):
        x0, x1 = max(0, int(x0)), min(self.width, int(x1))
        if 0 <= y < self.height and x0 < x1:
            self.rows[y][3 * x0:3 * x1] = bytes(colour) * (x1 - x0)

    def fade(self, top, bottom):
        for y in range(self.height):
            part = y / self.height
            self.span(y, 0, self.width, [int(a + (b - a) * part) for a, b in zip(top, bottom)])

    def ellipse(self, cx, cy, rx, ry, colour):
        for y in range(int(cy - ry), int(cy + ry) + 1):
            inside = 1 - ((y - cy) / ry) ** 2
            if inside > 0:
                half = rx * math.sqrt(inside)
                self.span(y, cx - half, cx + half, colour)

    def png(self):
        def chunk(kind, data):
            return (struct.pack(">I", len(data)) + kind + data +
                    struct.pack(">I", zlib.crc32(kind + data)))
        head = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        data = zlib.compress(b"".join(b"\0" + row for row in self.rows), 6)
        return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) +
                chunk(b"IEND", b""))


def bird(name):
    chance = random.Random(name)
    picture = Picture(180, 120)
    picture.fade((190, 215, 235), (225, 235, 205))
    back = [chance.randrange(60, 170) for _ in range(3)]
    breast = [min(255, part + 70) for part in back]
    picture.ellipse(90, 70, 44, 26, back)
    picture.ellipse(96, 78, 34, 16, breast)
    picture.ellipse(132, 48, 17, 15, back)
    picture.ellipse(40, 62, 24, 6, back)
    picture.ellipse(152, 50, 8 + chance.randrange(12), 2.5, (200, 150, 60))
    picture.ellipse(136, 45, 3, 3, (20, 20, 20))
    for y in range(94, 118):
        picture.span(y, 84, 86, (120, 90, 50))
        picture.span(y, 98, 100, (120, 90, 50))
    return picture.png()


def flower(name):
    chance = random.Random(name)
    picture = Picture(180, 120)
    picture.fade((235, 240, 220), (150, 185, 115))
    petal = [chance.randrange(120, 255) for _ in range(3)]
    petals = chance.randrange(5, 13)
    for y in range(60, 120):
        picture.span(y, 88, 91, (70, 120, 50))
    for index in range(petals):
        angle = 2 * math.pi * index / petals
        picture.ellipse(90 + 26 * math.cos(angle), 50 + 26 * math.sin(angle), 11, 11, petal)
    picture.ellipse(90, 50, 13, 13, (225, 180, 60))
    return picture.png()


def hero():
    chance = random.Random("hero")
    picture = Picture(960, 240)
    picture.fade((160, 200, 235), (240, 240, 220))
    for base, colour in ((150, (150, 180, 140)), (175, (115, 160, 90)), (205, (85, 140, 60))):
        phase = chance.random() * 6
        for x in range(0, 960, 2):
            top = int(base + 14 * math.sin(x / 90 + phase) + 6 * math.sin(x / 31))
            for y in range(top, 240):
                picture.span(y, x, x + 2, colour)
    for _ in range(250):
        spot = [chance.randrange(150, 255) for _ in range(3)]
        picture.ellipse(chance.randrange(960), chance.randrange(205, 240), 2, 2, spot)
    return picture.png()


def photo(number):
    """Like a photograph: with noise, so that it does not compress to nothing."""
    chance = random.Random(f"photo {number}")
    picture = Picture(240, 160)
    picture.fade([chance.randrange(120, 240) for _ in range(3)],
                 [chance.randrange(60, 200) for _ in range(3)])
    for _ in range(12):
        colour = [chance.randrange(40, 220) for _ in range(3)]
        picture.ellipse(chance.randrange(240), chance.randrange(160), chance.randrange(8, 50),
                        chance.randrange(8, 30), colour)
    for row in picture.rows:
        for at in range(len(row)):
            row[at] ^= chance.getrandbits(3)
    return picture.png()


def tile():
    chance = random.Random("tile")
    picture = Picture(160, 140)
    picture.fade((222, 233, 200), (206, 222, 182))
    for _ in range(60):
        picture.ellipse(chance.randrange(160), chance.randrange(140), 3, 2, (180, 205, 150))
    return picture.png()


def paper():
    chance = random.Random("paper")
    picture = Picture(64, 64)
    picture.fade((255, 255, 252), (252, 251, 244))
    for _ in range(40):
        picture.span(chance.randrange(64), chance.randrange(60), 64, (248, 247, 238))
    return picture.png()
