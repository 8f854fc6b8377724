"""Describe a text or link that a student submitted to the LMS in place of a notebook file."""

from __future__ import annotations

import html
import re

from autograder.terminal_text import replace_unprintable

_PAGES = (".html", ".htm")
_MOST_READ, _MOST_SHOWN = 100_000, 200  # bytes that are searched for a link, and characters of it that are shown
_LINK = re.compile(rb"https?://[^\s\"'<>]{3,2000}", re.IGNORECASE)
# Canvas's page of a link sends on to it; before it may stand links of the page's own form.
_SENT_ON = re.compile(rb"(?:url=|href=)[\"']?(https?://[^\s\"'<>]{3,2000})", re.IGNORECASE)


def is_text_entry_page(original: str) -> bool:
    """Whether a file of this name is a page: Canvas and Moodle write text and links that were entered into one."""
    return original.casefold().endswith(_PAGES)


def describe_text_entry_page(data: bytes) -> str:
    """Return what a page is in place of a notebook: a link, with its address, or text. The student wrote it."""
    data = data[:_MOST_READ]
    found = _SENT_ON.search(data)
    link = found[1] if found else (other[0] if (other := _LINK.search(data)) else b"")
    if not link:
        return "text in place of a file"
    address = html.unescape(link.decode("utf-8", "replace"))
    shown = address[:_MOST_SHOWN] + ("…" if len(address) > _MOST_SHOWN else "")
    return f"a link in place of a file: {replace_unprintable(shown, kept='')}"
