"""Read a picture's number of pixels from its header: a small file can take gigabytes of memory when a page shows it."""

from __future__ import annotations

import struct
from collections.abc import Callable

MAX_PIXELS = 50_000_000  # pixels, as in a phone's photograph; a browser needs four bytes for each
_NO_SIZE = frozenset({0xC4, 0xC8, 0xCC})  # of JPEG's markers C0 to CF, those that do not begin a frame


def picture_pixels(kind: str, data: bytes) -> int:
    """Return width times height of a picture of this MIME type; 0 if its header has no size: then nothing shows it."""
    try:
        width, height = _SIZES[kind](data)
    except (struct.error, IndexError):
        return 0
    return width * height


def _png(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _gif(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _webp(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X":  # width - 1 and height - 1, 24 bits each
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L":  # width - 1 and height - 1, 14 bits each
        (bits,) = struct.unpack_from("<I", data, 21)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack_from("<HH", data, 26)
    return width & 0x3FFF, height & 0x3FFF


def _jpeg(data: bytes) -> tuple[int, int]:
    place = 2
    while data[place] == 0xFF:
        mark = data[place + 1]
        if mark == 0xFF:  # a fill byte before a marker
            place += 1
        elif 0xC0 <= mark <= 0xCF and mark not in _NO_SIZE:
            height, width = struct.unpack_from(">HH", data, place + 5)
            return width, height
        else:
            place += 2 + int.from_bytes(data[place + 2 : place + 4], "big")
    return 0, 0


_SIZES: dict[str, Callable[[bytes], tuple[int, int]]] = {
    "image/png": _png,
    "image/jpeg": _jpeg,
    "image/gif": _gif,
    "image/webp": _webp,
}
