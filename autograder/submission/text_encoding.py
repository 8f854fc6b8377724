"""The text of a file, in whatever encoding an editor or a mail program left it."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig", ""),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),  # begins as UTF-16 does, so it stands first
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
_UTF8 = codecs.getincrementaldecoder("utf-8")
_HIGH = bytes(range(128, 256))
_ONCE_MORE = "\N{ZERO WIDTH NO-BREAK SPACE}"  # in front, once more where a file was saved twice


@dataclass(frozen=True)
class Decoded:
    """The text of a file; `repairs` say how it was saved, `eye` what of it is lost."""

    text: str
    repairs: tuple[str, ...] = ()
    eye: tuple[str, ...] = ()


def decoded(data: bytes) -> Decoded:
    """The text of any bytes: they are text in some encoding."""
    encoding, name = _encoding(data)
    told = (f"the file was saved as {name}; read all the same",) if name else ()
    try:
        return Decoded(data.decode(encoding).lstrip(_ONCE_MORE), told)
    except UnicodeDecodeError as error:
        if error.reason in ("unexpected end of data", "truncated data"):  # cut off within a letter
            return Decoded(data[: error.start].decode(encoding), told)
    text = data.decode(encoding, "replace")
    lost = text.count("\N{REPLACEMENT CHARACTER}")
    return Decoded(text, told, (f"damaged letters in the file: {lost}; where one is in an answer, it may cost points",))


def _encoding(data: bytes) -> tuple[str, str]:
    """The encoding of a text, and its name where it is not the one of notebooks."""
    for mark, encoding, name in _MARKS:
        if data.startswith(mark):
            return encoding, name
    # A notebook begins with a letter of ASCII, of which UTF-16 makes two bytes.
    if data[1:2] == b"\0" != data[:1]:
        return "utf-16-le", "UTF-16"
    if data[:1] == b"\0" != data[1:2]:
        return "utf-16-be", "UTF-16"
    return ("utf-8", "") if _is_utf8(data) else (_latin(data), "Latin-1")


def _is_utf8(data: bytes) -> bool:
    """Whether the letters beyond ASCII are those of UTF-8, but for a few damaged ones."""
    high = len(data) - len(data.translate(None, _HIGH))
    # A sound letter has two such bytes or more; each other byte becomes a sign of its own. The last may be cut off.
    text = _UTF8("replace").decode(data)
    return high == 0 or text.count("\N{REPLACEMENT CHARACTER}") <= high / 3


def _latin(data: bytes) -> str:
    """What programs mean when they say Latin-1 lacks five letters of it."""
    return "latin-1" if any(data.count(byte) for byte in b"\x81\x8d\x8f\x90\x9d") else "cp1252"
