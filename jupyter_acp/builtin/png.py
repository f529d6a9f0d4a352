# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A picture made from nothing but the standard library."""

from __future__ import annotations

import math
import struct
import zlib

WIDTH, HEIGHT = 192, 128


def encode(width: int, height: int, pixels: bytes) -> bytes:
    """Return a PNG of 8-bit RGB pixels, row after row."""
    stride = width * 3
    rows = b"".join(b"\0" + pixels[y * stride : (y + 1) * stride] for y in range(height))
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
            _chunk(b"IDAT", zlib.compress(rows, 9)),
            _chunk(b"IEND", b""),
        )
    )


def interference(width: int = WIDTH, height: int = HEIGHT) -> bytes:
    """Return a PNG of two rings of waves that cross, in the colours of Jupyter."""
    pixels = bytearray()
    for y in range(height):
        for x in range(width):
            left = math.hypot(x - width * 0.3, y - height * 0.5)
            right = math.hypot(x - width * 0.7, y - height * 0.5)
            wave = (math.sin(left / 5) + math.sin(right / 5) + 2) / 4
            pixels += bytes((round(40 + 203 * wave), round(40 + 79 * wave), round(48 - 15 * wave)))
    return encode(width, height, bytes(pixels))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
