"""Make untrusted text safe to print on a terminal."""

from __future__ import annotations

import io
import sys


def replace_unprintable(text: str, kept: str = "\n\t") -> str:
    """Return the text with every unprintable character replaced, except those in `kept` (line ends and tabs).

    Otherwise text from a student could move the cursor, change colors, or send commands to the terminal.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in kept else "\N{REPLACEMENT CHARACTER}" for each in text)


def escape_unencodable() -> None:
    """Write characters that the output's encoding lacks as `\\u2192`, so that they raise no UnicodeEncodeError."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a test may have replaced the stream
            stream.reconfigure(errors="backslashreplace")
