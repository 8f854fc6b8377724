"""Make untrusted text safe to print on a terminal."""

from __future__ import annotations


def replace_unprintable(text: str, kept: str = "\n\t") -> str:
    """Return the text with every unprintable character replaced, except those in `kept` (line ends and tabs).

    Otherwise text from a student could move the cursor, change colors, or send commands to the terminal.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in kept else "\N{REPLACEMENT CHARACTER}" for each in text)
