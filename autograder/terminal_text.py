"""Text for a terminal, whoever wrote it."""

from __future__ import annotations


def printable(text: str, kept: str = "\n\t") -> str:
    """A text in which nothing can move the cursor, change colors or speak to the terminal; lines stay lines."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in kept else "\N{REPLACEMENT CHARACTER}" for each in text)
