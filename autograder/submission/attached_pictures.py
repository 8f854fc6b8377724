"""Extract the pictures in a student's text cells: attachments, and pictures that Colab stores within the text.

Only small, valid pictures of known kinds are kept, since teachers' browsers show them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from autograder.submission.count_picture_pixels import MAX_PIXELS, picture_pixels

MAX_PICTURE_CHARACTERS = 12 * 2**20  # base64 characters of all pictures of a notebook together
MAX_PICTURE_COUNT = 50
# The first bytes of each kind of picture. SVG is not allowed: it is a document that can hold a script.
_SIGNATURES = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_IN_TEXT = re.compile(r"\]\(data:(?P<kind>image/[a-z]+);base64,(?P<data>[A-Za-z0-9+/=]+)\)")
_REFERENCE = re.compile(r"!\[(?P<alt>[^\[\]\n]*)\]\(attachment:(?P<name>[^()\s]+)\)")


@dataclass(frozen=True)
class AttachedPicture:
    """A picture: the name by which a text refers to it, its MIME type, and its bytes in base64."""

    name: str
    kind: str
    data: str


def attached_pictures(cell: Mapping[str, Any]) -> tuple[AttachedPicture, ...]:
    """Return the valid pictures that are attached to a cell of an untrusted notebook."""
    found = cell.get("attachments")
    return tuple(_attached(found)) if isinstance(found, dict) else ()


def _attached(found: Mapping[str, Any]) -> Iterator[AttachedPicture]:
    for name, bundle in found.items():
        for kind, data in bundle.items() if isinstance(bundle, dict) else ():
            parts = data if isinstance(data, list) else [data]
            text = "".join("".join(part.split()) for part in parts if isinstance(part, str))
            if _is_picture(kind, text):
                yield AttachedPicture(str(name), kind, text)
                break


def extract_inline_pictures(source: str) -> tuple[str, tuple[AttachedPicture, ...]]:
    """Move pictures out of a text: return the text, which then refers to attachments, and the pictures."""
    found: list[AttachedPicture] = []

    def moved(match: re.Match[str]) -> str:
        if not _is_picture(match["kind"], match["data"]):
            return match[0]
        found.append(AttachedPicture(f"in-text-{len(found) + 1}", match["kind"], match["data"]))
        return f"](attachment:{found[-1].name})"

    return _IN_TEXT.sub(moved, source), tuple(found)


def _is_picture(kind: object, data: str) -> bool:
    """Return whether base64 `data` is a picture of the stated kind, with no more pixels than a page can show."""
    if (
        not isinstance(kind, str)
        or kind not in _SIGNATURES
        or len(data) > MAX_PICTURE_CHARACTERS
        or not _BASE64.fullmatch(data)
    ):
        return False
    try:
        content = base64.b64decode(data, validate=True)
    except binascii.Error:
        return False
    return _SIGNATURES[kind].match(content) is not None and picture_pixels(kind, content) <= MAX_PIXELS


def rename_pictures(
    source: str, pictures: Sequence[AttachedPicture], known: Collection[str]
) -> tuple[str, str, dict[str, AttachedPicture]]:
    """Rename the pictures that a text refers to; return the new text, the text without them, and the pictures by name.

    `known` are the names of pictures that the cell already has. References to other pictures stay in both texts.
    """
    names = {picture.name: f"picture-{number}" for number, picture in enumerate(pictures, 1)}

    def renamed(match: re.Match[str]) -> str:
        name = names.get(match["name"]) or names.get(unquote(match["name"])) or match["name"]
        return f"![{match['alt']}](attachment:{name})"

    available = {*names.values(), *known}
    text = _REFERENCE.sub(renamed, source)
    bare = _REFERENCE.sub(lambda match: match["alt"] if match["name"] in available else match[0], text)
    return text, bare, {names[picture.name]: picture for picture in pictures}
