"""A screen that nobody sees, for programs that need one: Xvfb, which keeps what it shows in a file
of the format of xwd(1)."""

import os
import select
import shutil
import struct
import subprocess
import time
import zlib

from wire import DEADLINE_SECONDS

PROGRAM = shutil.which("Xvfb")
WIDTH, HEIGHT = 1400, 1000
HEADER = struct.Struct(">25I")
SAMPLED = 97  # one pixel of so many, in other columns of each row, tells the share of a colour
LOOK_SECONDS = 0.05  # between two looks: nothing tells when a page has been drawn


class Display:
    def __init__(self, folder):
        """Keeps its file in `folder`. `environment` is that of programs that use it."""
        told, tells = os.pipe()
        self._process = subprocess.Popen(
            [PROGRAM, "-displayfd", str(tells), "-screen", "0", f"{WIDTH}x{HEIGHT}x24",
             "-nolisten", "tcp", "-fbdir", str(folder)],
            pass_fds=[tells], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(tells)
        with open(told, encoding="ascii") as number:
            name = number.readline().strip()
        if not name:
            raise AssertionError("Xvfb ended")
        self.environment = {"DISPLAY": f":{name}"}
        self._file = folder / "Xvfb_screen0"

    def close(self):
        self._process.terminate()
        self._process.wait()

    def pixels(self):
        """Of the whole screen, row by row: blue, green, red and an unused byte each."""
        shown = self._file.read_bytes()
        header = HEADER.unpack_from(shown)
        size, row_bytes, colours = header[0], header[12], header[19]
        assert row_bytes == 4 * WIDTH, header
        begin = size + 12 * colours
        return shown[begin:begin + row_bytes * HEIGHT]

    def share_of(self, red, green, blue):
        """Of the screen, from 0 to 1, that has this colour."""
        pixels = self.pixels()
        sampled = [pixels[at:at + 3] for at in range(0, len(pixels), 4 * SAMPLED)]
        return sampled.count(bytes((blue, green, red))) / len(sampled)

    def wait_for(self, *colour, share):
        """Until that share of the screen has the colour."""
        end = time.monotonic() + DEADLINE_SECONDS
        ended = os.pidfd_open(self._process.pid)
        try:
            while (seen := self.share_of(*colour)) < share:
                if time.monotonic() > end:
                    raise AssertionError(f"{seen:.3f} of the screen has the colour")
                if select.select([ended], [], [], LOOK_SECONDS)[0]:
                    raise AssertionError("Xvfb ended")
        finally:
            os.close(ended)

    def screenshot(self, path):
        """Writes a PNG."""
        pixels = self.pixels()
        rows = bytearray()
        for at in range(0, len(pixels), 4 * WIDTH):
            row = bytearray(3 * WIDTH)
            for part in range(3):
                row[2 - part::3] = pixels[at + part:at + 4 * WIDTH:4]
            rows += b"\0" + row

        def chunk(kind, data):
            return (struct.pack(">I", len(data)) + kind + data
                    + struct.pack(">I", zlib.crc32(kind + data)))
        path.write_bytes(b"\x89PNG\r\n\x1a\n"
                         + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0))
                         + chunk(b"IDAT", zlib.compress(bytes(rows))) + chunk(b"IEND", b""))
