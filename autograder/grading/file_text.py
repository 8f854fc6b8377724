"""The text of a file, in whatever encoding an editor or a mail program left it."""

from __future__ import annotations

import codecs

_MARKS = (
    (codecs.BOM_UTF8, "utf-8", ""),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),  # begins as UTF-16 does, so it stands first
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
_HIGH = bytes(range(128, 256))
_DAMAGED = "\N{REPLACEMENT CHARACTER}"


def decoded(data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text, and what to tell of how it was saved: any bytes are text in some encoding."""
    for mark, encoding, name in _MARKS:
        if data.startswith(mark):
            text = data.decode(encoding, "replace").removeprefix("\ufeff")
            return text, _saved_as(name)
    # A notebook begins with a letter of ASCII, of which UTF-16 makes two bytes.
    if data[1:2] == b"\0" != data[:1]:
        return data.decode("utf-16-le", "replace"), _saved_as("UTF-16")
    if data[:1] == b"\0" != data[1:2]:
        return data.decode("utf-16-be", "replace"), _saved_as("UTF-16")
    return _eight_bits(data)


def _saved_as(name: str) -> tuple[str, ...]:
    return (f"the file was saved as {name}; read all the same",) if name else ()


def _eight_bits(data: bytes) -> tuple[str, tuple[str, ...]]:
    """UTF-8; a few damaged letters in it cost themselves, and what has only damaged ones is Latin-1."""
    try:
        return data.decode(), ()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and error.end == len(data):
            return data[: error.start].decode(), ()  # cut off within a letter
    text = data.decode("utf-8", "replace")
    bad = text.count(_DAMAGED)
    if bad < (len(data) - len(data.translate(None, _HIGH))) / 3:  # sound letters have at least two such bytes
        return text, (f"damaged letters in the file: {bad}; the rest was read",)
    return _latin(data), _saved_as("Latin-1")


def _latin(data: bytes) -> str:
    try:
        return data.decode("cp1252")  # what programs mean when they say Latin-1, but for five bytes
    except UnicodeDecodeError:
        return data.decode("latin-1")
