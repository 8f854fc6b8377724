"""Decode the text of a file in whatever encoding an editor or a mail program saved it."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig", ""),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),  # before UTF-16, whose mark is a prefix of this one
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
_UTF8 = codecs.getincrementaldecoder("utf-8")
_HIGH = bytes(range(128, 256))
_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"  # a byte order mark; there is a second one if a file was saved twice


@dataclass(frozen=True)
class DecodedText:
    """The text of a file, and messages: `repairs` about its encoding, `eye` about characters that are lost."""

    text: str
    repairs: tuple[str, ...] = ()
    eye: tuple[str, ...] = ()


def decode_text(data: bytes) -> DecodedText:
    """Decode any bytes as text; never raises. Characters that cannot be decoded are replaced, and reported."""
    encoding, name = _encoding(data)
    repairs = (f"the file was saved as {name}; read all the same",) if name else ()
    try:
        return DecodedText(data.decode(encoding).lstrip(_BOM), repairs)
    except UnicodeDecodeError as error:
        if error.reason in ("unexpected end of data", "truncated data"):  # cut off within a character
            return DecodedText(data[: error.start].decode(encoding), repairs)
    text = data.decode(encoding, "replace")
    lost = text.count("\N{REPLACEMENT CHARACTER}")
    return DecodedText(
        text, repairs, (f"damaged letters in the file: {lost}; where one is in an answer, it may cost points",)
    )


def _encoding(data: bytes) -> tuple[str, str]:
    """Return the likely encoding of a text, and its name to report; the name is "" for UTF-8."""
    for mark, encoding, name in _MARKS:
        if data.startswith(mark):
            return encoding, name
    # A notebook begins with an ASCII character, which is a zero byte and another byte in UTF-16.
    if data[1:2] == b"\0" != data[:1]:
        return "utf-16-le", "UTF-16"
    if data[:1] == b"\0" != data[1:2]:
        return "utf-16-be", "UTF-16"
    return ("utf-8", "") if _is_utf8(data) else (_latin(data), "Latin-1")


def _is_utf8(data: bytes) -> bool:
    """Return whether the bytes above 127 are UTF-8, except for a few damaged characters."""
    high = len(data) - len(data.translate(None, _HIGH))
    # A valid character has two or more such bytes, and each invalid byte becomes one replacement character. The
    # incremental decoder ignores a last character that is cut off.
    text = _UTF8("replace").decode(data)
    return high == 0 or text.count("\N{REPLACEMENT CHARACTER}") <= high / 3


def _latin(data: bytes) -> str:
    """Return cp1252, which most programs mean by Latin-1, unless the text has one of the five bytes that it lacks."""
    return "latin-1" if any(data.count(byte) for byte in b"\x81\x8d\x8f\x90\x9d") else "cp1252"
